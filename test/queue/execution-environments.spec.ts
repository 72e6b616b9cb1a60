/**
 * Budget: 70 s, because containers of three images start and Ansible runs in them: two jobs side by side,
 * and again after an edit.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { TestRepository } from '../runner/git-servers.js';
import { buildCollection, serveGalaxy } from '../support/fakes/galaxy-server.js';
import { ImageRegistry } from '../support/image-registry.js';
import { eventually } from '../support/eventually.js';
import { ansibleFolder, Containers, MAY_USE_CONTAINERS } from '../support/containers.js';

/** Playbook that prints its image and the version of Ansible. */
const WHICH = `- hosts: all
  gather_facts: false
  tasks:
    - {command: cat /etc/marker, register: marker}
    - debug: {msg: 'image {{ marker.stdout }}, Ansible {{ ansible_version.full }}'}
`;

/** Runs with an execution environment, on a worker whose other runs are isolated by bubblewrap. */
const describeHere = MAY_USE_CONTAINERS ? describe : describe.skip;
describeHere('a run with an execution environment', () => {
  let containers: Containers;
  let cluster: Cluster;
  let api: ApiCalls;
  let registry: ImageRegistry;
  let access: Row;
  let inventory: Row;
  let credential: Row;
  /** Package folders of the Ansible of each image. */
  let ansibles: Record<'red' | 'blue', string>;

  const make = (path: string, fields: object): Promise<Row> => api.call('POST', path, fields);
  const environment = (name: string, fields: object): Promise<Row> =>
    make('execution_environments/', { name, image: 'localhost/machine:latest', ...fields });
  async function ended(
    path: string,
    id: unknown,
    status: string,
  ): Promise<Row & { output: string }> {
    const isEnded = await cluster.becomes(Number(id), status, 60_000).catch(() => null);
    const run = await api.call('GET', `${path}/${id}/`);
    const url = `${path}/${id}/stdout/?format=txt`;
    const output = await api.text('GET', url, undefined, 'text/plain');
    if (!isEnded)
      throw new Error(`${String(run.status)}: ${String(run.job_explanation)} ${output}`);
    return { ...run, output };
  }
  const command = (fields: object): Promise<Row> =>
    make('ad_hoc_commands/', {
      ...{ inventory: inventory.id, credential: credential.id, module_name: 'command' },
      ...{ module_args: 'cat /run/.containerenv', ...fields },
    });

  /** Starts a registry with a local image, which is then removed locally. */
  async function registryOf(name: string): Promise<ImageRegistry> {
    const pushed = join(containers.folder, `pushed-${name}`);
    await containers.ask('push', '--quiet', `localhost/${name}:latest`, `dir:${pushed}`);
    if (name !== 'machine') await containers.ask('rmi', `localhost/${name}:latest`);
    return ImageRegistry.open(pushed);
  }
  async function login(to: ImageRegistry): Promise<Row> {
    const { results } = await api.call('GET', 'credential_types/?namespace=registry');
    return make('credentials/', {
      ...{ name: `Registry ${to.host}`, organization: 1, inputs: to.inputs },
      credential_type: (results as Row[])[0]?.id,
    });
  }

  beforeAll(async () => {
    containers = await Containers.prepare();
    const playbook =
      '- hosts: all\n  gather_facts: false\n  tasks: [{command: cat /run/.containerenv}]\n';
    cluster = await Cluster.start({ playbooks: { 'site.yml': playbook, 'which.yml': WHICH } });
    const sources = { PROJECT_SCM_SCHEMES: 'file', PROJECT_FILE_ROOTS: cluster.folder };
    api = await ApiCalls.inside(cluster, sources);
    ansibles = {
      red: await ansibleFolder('distribution'),
      blue: await containers.share(await ansibleFolder('workers')),
    };
    await cluster.workerInside({
      ...{ ...containers.settings, ...sources, JOB_ISOLATION: 'bubblewrap' },
      ...{ JOB_SHOW_PATHS: `/usr,${ansibles.blue}`, OUTBOUND_ALLOW: '127.0.0.1' },
    });
    registry = await registryOf('machine');
    access = await login(registry);
    inventory = await make('inventories/', { name: 'Hosts', organization: 1 });
    const variables = '{"ansible_connection": "local"}';
    await make('hosts/', { name: 'one', inventory: inventory.id, variables });
    const { results } = await api.call('GET', 'credential_types/?kind=ssh');
    const type = (results as Row[])[0]?.id;
    credential = await make('credentials/', {
      ...{ name: 'Machine', organization: 1, credential_type: type },
    });
  });
  afterAll(async () => {
    await cluster.stop();
    await registry.close();
    await containers.remove();
  });

  it('uses a container of its image, unlike a run without an environment', async () => {
    const { id } = await environment('Tools', { pull: 'never' });
    const inside = await command({ execution_environment: id });
    const run = await ended('ad_hoc_commands', inside.id, 'successful');
    expect(run).toMatchObject({
      isolation: 'container',
      environment: { name: 'Tools', image: 'localhost/machine:latest', pull: 'never' },
      environment_digest: await containers.ask(
        ...['image', 'inspect', '--format', '{{.Digest}}', 'localhost/machine:latest'],
      ),
    });
    expect(run.output).toContain('CHANGED');
    const outside = await ended('ad_hoc_commands', (await command({})).id, 'failed');
    expect(outside).toMatchObject({ isolation: 'bubblewrap', environment: null });
  });

  it('pulls the image with its credential, and shows the output of the pull first', async () => {
    const image = `${registry.host}/team/tools:1`;
    const { id } = await environment('Pulled', { image, pull: 'always', credential: access.id });
    await api.call('PATCH', 'job_templates/2/', { execution_environment: id });
    const { job } = await make('job_templates/2/launch/', {});
    const run = await ended('jobs', job, 'successful');
    expect(run).toMatchObject({
      ...{ isolation: 'container', environment_digest: registry.digest },
      ...{ event_processing_finished: true, host_status_counts: { changed: 1 } },
    });
    expect(run.output).toMatch(
      /^Pulling the image \S+ of execution environment "Pulled"\n[^]*PLAY \[all\][^]*PLAY RECAP/,
    );
    const { results: events } = await api.call('GET', `jobs/${job}/job_events/?page_size=200`);
    const rows = events as { counter: number; start_line: number; end_line: number }[];
    expect(rows.map(({ counter }) => counter)).toEqual(rows.map((_, at) => at + 1));
    expect(rows.slice(1).map((row) => row.start_line)).toEqual(
      rows.slice(0, -1).map((row) => row.end_line),
    );
  });

  it('ends with an explanation if its image is unavailable', async () => {
    const image = '10.1.2.3/missing:1';
    const never = await environment('Never', { image, pull: 'never' });
    const { id } = await command({ execution_environment: never.id });
    expect(await ended('ad_hoc_commands', id, 'error')).toMatchObject({
      job_explanation:
        'The image 10.1.2.3/missing:1 of execution environment "Never" is not on this worker, and is never pulled. Pull it there, or choose another value of "pull".',
    });
    const missing = await environment('Missing', { image, pull: 'missing' });
    const pulled = await command({ execution_environment: missing.id });
    const run = await ended('ad_hoc_commands', pulled.id, 'error');
    expect(run.job_explanation).toMatch(
      /^The image 10\.1\.2\.3\/missing:1 of execution environment "Missing" could not be pulled: The address of 10\.1\.2\.3 is not permitted\./,
    );
    expect(run.output).toContain('Pulling the image 10.1.2.3/missing:1');
  });

  describe('of two organizations', () => {
    const VERSIONS = { red: '2.14.98', blue: '2.19.99' };
    type Name = keyof typeof VERSIONS;
    const registries = new Map<Name, ImageRegistry>();
    const templates = new Map<Name, Row>();
    const environments = new Map<Name, Row>();

    const launch = async (name: Name): Promise<unknown> =>
      (await make(`job_templates/${templates.get(name)?.id}/launch/`, {})).job;
    const shown = (name: Name): object => ({
      ...{ environment_digest: registries.get(name)?.digest, isolation: 'container' },
      output: expect.stringContaining(`image ${name}, Ansible ${VERSIONS[name]}`),
    });
    /** One job of each organization, launched together, for all tests. */
    let jobs: Promise<Record<Name, Row>> | undefined;
    const sideBySide = (): Promise<Record<Name, Row>> =>
      (jobs ??= (async () => {
        const [first, second] = [await launch('red'), await launch('blue')];
        const [red, blue] = await Promise.all([
          ended('jobs', first, 'successful'),
          ended('jobs', second, 'successful'),
        ]);
        return { red, blue };
      })());

    beforeAll(async () => {
      for (const name of ['red', 'blue'] as const) {
        await containers.addImage(name, ansibles[name], VERSIONS[name]);
        const from = await registryOf(name);
        registries.set(name, from);
        const made = await environment(name, {
          ...{ image: `${from.host}/team/tools:1`, pull: 'missing' },
          credential: (await login(from)).id,
        });
        environments.set(name, made);
        const organization = await make('organizations/', { name });
        await api.call('PATCH', `organizations/${organization.id}/`, {
          default_environment: made.id,
        });
        const folder = join(cluster.folder, 'data', 'projects', name);
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'which.yml'), WHICH);
        const project = await make('projects/', {
          ...{ name, organization: organization.id, scm_type: '', local_path: name },
        });
        const fields = { name, project: project.id, inventory: inventory.id };
        templates.set(name, await make('job_templates/', { ...fields, playbook: 'which.yml' }));
      }
    });
    afterAll(async () => {
      for (const one of registries.values()) await one.close();
    });

    it('executes the same playbook in parallel, each with the Ansible of its image', async () => {
      const { red, blue } = await sideBySide();
      expect(red).toMatchObject(shown('red'));
      expect(blue).toMatchObject(shown('blue'));
      expect(red.environment_digest).not.toBe(blue.environment_digest);
      expect(String(red.started) < String(blue.finished)).toBe(true);
      expect(String(blue.started) < String(red.finished)).toBe(true);
    });

    it('installs the requirements of a project with the Ansible of the image', async () => {
      const galaxy = await serveGalaxy([await buildCollection(cluster.folder, 'tools', 'hi')], 'x');
      const { results } = await api.call('GET', 'credential_types/?namespace=galaxy_api_token');
      const organization = (await api.call('GET', `job_templates/${templates.get('red')?.id}/`))
        .organization;
      const access = await make('credentials/', {
        ...{ name: 'Galaxy', organization, credential_type: (results as Row[])[0]?.id },
        inputs: { url: galaxy.url, token: 'x' },
      });
      await make(`organizations/${String(organization)}/galaxy_credentials/`, { id: access.id });
      const repository = await TestRepository.create(join(cluster.folder, 'required'), {
        'which.yml': WHICH,
        'collections/requirements.yml': 'collections: [our.tools]\n',
      });
      const fields = { name: 'Requires', organization, scm_type: 'git', scm_url: repository.url };
      const project = await make('projects/', fields);
      const agents = (): string[] => {
        const found = galaxy.requests
          .splice(0)
          .map(({ agent }) => /ansible-galaxy\/(\S+)/.exec(agent ?? ''));
        return [...new Set(found.map((one) => one?.[1] ?? ''))];
      };
      // A new project is synced immediately.
      const syncs = await api.call('GET', `projects/${project.id}/project_updates/`);
      const [first] = syncs.results as [Row];
      expect(await ended('project_updates', first.id, 'successful')).toMatchObject({
        ...{ execution_environment: null, environment: null },
      });
      expect(agents()).toEqual([expect.not.stringMatching(VERSIONS.red)]);
      const template = { name: 'Requires', project: project.id, inventory: inventory.id };
      const { id } = await make('job_templates/', { ...template, playbook: 'which.yml' });
      const { job } = await make(`job_templates/${id}/launch/`, {});
      expect(await ended('jobs', job, 'successful')).toMatchObject(shown('red'));
      expect(agents()).toEqual([VERSIONS.red]);
      const environment = environments.get('blue')?.id;
      await api.call('PATCH', `projects/${project.id}/`, { default_environment: environment });
      const { project_update: second } = await make(`projects/${project.id}/update/`, {});
      expect(await ended('project_updates', second, 'successful')).toMatchObject({
        ...{ execution_environment: environment, environment: { name: 'blue' } },
        environment_digest: registries.get('blue')?.digest,
      });
      expect(agents()).toEqual([VERSIONS.blue]);
      await galaxy.close();
    });

    it('keeps its image for a relaunch when the environment changes', async () => {
      const { blue } = await sideBySide();
      const { id, image, pull } = environments.get('blue') as Row;
      const use = (fields: object): Promise<Row> =>
        api.call('PATCH', `execution_environments/${String(id)}/`, fields);
      await use({ image: 'localhost/none:latest', pull: 'never' });
      const again = await make(`jobs/${blue.id}/relaunch/`, {});
      const changed = await launch('blue');
      expect(await ended('jobs', again.id, 'successful')).toMatchObject(shown('blue'));
      expect((await ended('jobs', changed, 'error')).job_explanation).toContain(
        'The image localhost/none:latest of execution environment "blue" is not on this worker',
      );
      await use({ image, pull });
    });
  });

  describe('explains cause and remedy', () => {
    const ADVICE = 'Check the image, its registry and the credential of the execution environment.';
    const OTHER_DIGEST = `sha256:${'0'.repeat(64)}`;

    it.each([
      ['an unknown name', () => `${registry.host}/team/other:1`, /manifest unknown/],
      ['another digest', () => `${registry.host}/team/tools@${OTHER_DIGEST}`, /digest/],
      ['a registry that is away', () => '127.0.0.1:1/team/tools:1', /connection refused/],
    ])('for %s', async (name, image, cause) => {
      const fields = { image: image(), pull: 'always', credential: access.id };
      const { id } = await command({ execution_environment: (await environment(name, fields)).id });
      const run = await ended('ad_hoc_commands', id, 'error');
      expect(run.job_explanation).toMatch(cause);
      expect(run.job_explanation).toContain(ADVICE);
      expect(run.job_explanation).toContain(`The image ${image()} of execution environment`);
    });

    it('for an image without ansible-runner', async () => {
      await containers.addImageWithPrograms('poor', ['sh', 'grep', 'python3']);
      const fields = { image: 'localhost/poor:latest', pull: 'never' };
      const { id } = await command({ execution_environment: (await environment('P', fields)).id });
      expect((await ended('ad_hoc_commands', id, 'error')).job_explanation).toMatch(
        /cannot be used: .*the image has no ansible-runner\. Correct the image, or choose another/,
      );
    });
  });

  it('leaves nothing behind after a canceled pull', async () => {
    await containers.addImageWithPrograms('large', ['sh']);
    const slow = await registryOf('large');
    slow.stalls = true;
    const left = async (): Promise<unknown> => ({
      images: await containers.ask('images', '--all', '--quiet'),
      layers: await readdir(join(containers.folder, 'root/vfs/dir')),
      sessions: (await readdir(tmpdir())).filter((one) => one.startsWith(`git-${process.pid}-`)),
    });
    const before = await left();
    const fields = { image: `${slow.host}/team/tools:1`, credential: (await login(slow)).id };
    const { id } = await command({ execution_environment: (await environment('S', fields)).id });
    await eventually(async () => expect(slow.hasStalled).toBe(true), 30_000);
    expect(await left()).not.toEqual(before);
    await api.call('POST', `ad_hoc_commands/${id}/cancel/`);
    await ended('ad_hoc_commands', id, 'canceled');
    await eventually(async () => expect(await left()).toEqual(before));
    await slow.close();
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { SIGNATURE_FAILED } from '../../src/runs/run-explanations.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { Signer, SUMS } from '../support/signer.js';
import { buildCollection, type GalaxyFake, serveGalaxy } from '../support/fakes/galaxy-server.js';

const PLAYBOOK = `- hosts: all
  gather_facts: false
  roles: [our.tools.greet]
  tasks:
    - command: touch {{ (lookup('env', 'ANSIBLE_COLLECTIONS_PATH') | split(':'))[0] }}/written
      ignore_errors: true
`;

/**
 * An administrator sets up projects by the API; then real git, a server of collections and real playbooks
 * run.
 */
describe('the requirements of a project', () => {
  let cluster: Cluster;
  let repository: string;
  let api: ApiCalls;
  let galaxy: GalaxyFake;
  let signer: Signer | undefined;
  let project: Row;
  let template: Row;
  /** Commit of the first files on the main branch. */
  let base: string;
  /** The update that installs the requirements of these files, and its number of requests to Galaxy. */
  let first: Awaited<ReturnType<typeof update>> & { asked: number };

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      ...{ cwd: repository, encoding: 'utf8' },
    }).trim();

  function commit(branch: string, files: Record<string, string>): void {
    git('checkout', '-q', '-B', branch);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(repository, name)), { recursive: true });
      writeFileSync(join(repository, name), content);
    }
    git('add', '.');
    git('commit', '-qm', 'x');
    git('checkout', '-q', 'main');
  }

  async function update(): Promise<{ status: string; output: string; explanation: string }> {
    const { project_update: id } = await api.call('POST', `projects/${project.id}/update/`);
    await cluster.over([Number(id)]);
    const { status, job_explanation: explanation } = await cluster.job(Number(id));
    return {
      ...{ status, explanation },
      output: await api.text('GET', `project_updates/${id}/stdout/?format=txt`, undefined, '*/*'),
    };
  }

  async function run(status: string, body: object = {}): Promise<[why: string, output: string]> {
    const { job } = await api.call('POST', `job_templates/${template.id}/launch/`, body);
    const { job_explanation: why } = await cluster.becomes(Number(job), status, 60_000);
    return [why, await api.text('GET', `jobs/${job}/stdout/?format=txt`, undefined, '*/*')];
  }

  beforeAll(async () => {
    cluster = await Cluster.start();
    galaxy = await serveGalaxy(
      [await buildCollection(cluster.folder, 'tools', 'hi there')],
      'word',
    );
    repository = join(cluster.folder, 'repository');
    mkdirSync(repository);
    git('init', '-q', '-b', 'main');
    commit('main', {
      'site.yml': PLAYBOOK,
      'collections/requirements.yml': 'collections: [our.tools]\n',
    });
    base = git('rev-parse', 'HEAD');
    commit('other', {
      'roles/requirements.yml': `- {src: "${galaxy.url}nothing.tar.gz", name: nothing}\n`,
    });
    const environment = {
      ...{ PROJECT_SCM_SCHEMES: 'https,file', PROJECT_FILE_ROOTS: cluster.folder },
      OUTBOUND_ALLOW: '127.0.0.0/8',
    };
    api = await ApiCalls.inside(cluster, environment);
    await cluster.workerInside(environment);
    const types = await api.call('GET', 'credential_types/?namespace=galaxy_api_token');
    const [type] = types.results as Row[];
    const organization = await api.call('POST', 'organizations/', { name: 'With content' });
    const credential = await api.call('POST', 'credentials/', {
      ...{ name: 'Ours', organization: organization.id, credential_type: type?.id },
      inputs: { url: galaxy.url, token: 'word' },
    });
    const attach = { id: credential.id };
    await api.call('POST', `organizations/${organization.id}/galaxy_credentials/`, attach);
    project = await api.call('POST', 'projects/', {
      ...{ name: 'Site', organization: organization.id, scm_type: 'git', allow_override: true },
      scm_url: `file://${repository}`,
    });
    template = await api.call('POST', 'job_templates/', {
      ...{ name: 'Run it', project: project.id, inventory: 1, playbook: 'site.yml' },
      ...{ ask_scm_branch_on_launch: true },
    });
    first = { ...(await update()), asked: galaxy.requests.length };
  });
  afterEach(() => git('reset', '-q', '--hard', base));

  afterAll(async () => {
    await signer?.end();
    await galaxy?.close();
    await cluster?.stop();
  });

  it('are installed once by its update, and are read-only for its jobs', async () => {
    const { status, output } = first;
    expect({ status, output }).toMatchObject({ status: 'successful' });
    expect(first.asked).toBeGreaterThan(0);
    const asked = galaxy.requests.length;
    expect((await update()).output).toContain('installed already');
    const [, shown] = await run('successful');
    expect(shown).toContain('hi there');
    expect(shown).toContain('Read-only file system');
    expect(galaxy.requests).toHaveLength(asked);
  });

  it('of a prompted branch are installed for the job', async () => {
    const [why, shown] = await run('failed', { scm_branch: 'other' });
    expect(why).toMatch(/^The requirements of roles\/requirements.yml could not be installed/);
    expect(shown).toContain('Installing the requirements of roles/requirements.yml');
    expect(shown).toContain('nothing.tar.gz');
  });

  it('are installed from signed files only, for updates and for jobs', async () => {
    signer = await Signer.create(join(cluster.folder, 'gpg'));
    const types = await api.call('GET', 'credential_types/?namespace=gpg_public_key');
    const [type] = types.results as Row[];
    const key = await api.call('POST', 'credentials/', {
      ...{ name: 'Key', organization: 1, credential_type: type?.id },
      inputs: { gpg_public_key: signer.publicKey },
    });
    const require = (id: unknown) =>
      api.call('PATCH', `projects/${project.id}/`, { signature_validation_credential: id });
    await require(key.id);
    const unsigned = `${SIGNATURE_FAILED}The project is not signed: ${SUMS} is missing.`;
    const { status, explanation, output } = await update();
    expect({ status, explanation }).toEqual({ status: 'failed', explanation: unsigned });
    expect(output).not.toContain('installed');
    commit('main', { 'MANIFEST.in': '' });
    await signer.sign(repository, ['MANIFEST.in', 'site.yml', 'collections/requirements.yml']);
    commit('main', {});
    expect((await update()).output).toContain('Signature: 3 files are signed');
    const [, shown] = await run('successful');
    expect(shown).toContain('hi there');
    expect(await run('failed', { scm_branch: 'other' })).toEqual([unsigned, '']);
    await require(null);
  });

  it('are installed for an inventory update from the project, with output', async () => {
    commit('hosts', {
      'hosts.ini': 'one\n',
      'roles/requirements.yml': `- {src: "${galaxy.url}absent.tar.gz", name: absent}\n`,
    });
    const inventory = await api.call('POST', 'inventories/', { name: 'Read', organization: 1 });
    const source = await api.call('POST', 'inventory_sources/', {
      ...{ name: 'From it', inventory: inventory.id, source: 'scm', source_path: 'hosts.ini' },
      ...{ source_project: project.id, scm_branch: 'hosts' },
    });
    const read = async (status: string): Promise<string> => {
      const { inventory_update: id } = await api.call(
        'POST',
        `inventory_sources/${source.id}/update/`,
      );
      await cluster.becomes(Number(id), status, 60_000);
      return api.text('GET', `inventory_updates/${id}/stdout/?format=txt`, undefined, '*/*');
    };
    const failed = await read('failed');
    expect(failed).toContain('Installing the requirements of roles/requirements.yml');
    expect(failed).toContain('absent.tar.gz');
    await api.call('PATCH', `inventory_sources/${source.id}/`, { scm_branch: '' });
    commit('main', { 'hosts.ini': 'one\n' });
    expect(await read('successful')).toContain('installed already');
  });

  it('fail the update if they cannot be installed, and are skipped if disabled', async () => {
    commit('main', { 'collections/requirements.yml': 'collections: [our.missing]\n' });
    const failed = await update();
    expect(failed.status).toBe('failed');
    expect(failed.explanation).toContain('collections/requirements.yml');
    expect(failed.output).toContain('our.missing');
    await api.call('PATCH', 'settings/jobs/', { AWX_COLLECTIONS_ENABLED: false });
    const { status, output } = await update();
    expect(status).toBe('successful');
    expect(output).toContain('collections/requirements.yml is skipped: AWX_COLLECTIONS_ENABLED');
    await api.call('PATCH', 'settings/jobs/', { AWX_COLLECTIONS_ENABLED: true });
  });
});

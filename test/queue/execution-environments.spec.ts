/**
 * Budget: 40 s, because containers start and Ansible runs in them.
 */
import { join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { ImageRegistry } from '../support/image-registry.js';
import { Containers, MAY_USE_CONTAINERS } from '../support/containers.js';

/** Runs with an execution environment, on a worker whose other runs bubblewrap isolates. */
const describeHere = MAY_USE_CONTAINERS ? describe : describe.skip;
describeHere('a run with an execution environment', () => {
  let containers: Containers;
  let cluster: Cluster;
  let api: ApiCalls;
  let registry: ImageRegistry;
  let inventory: Row;
  let credential: Row;

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

  beforeAll(async () => {
    containers = await Containers.prepare();
    const playbook =
      '- hosts: all\n  gather_facts: false\n  tasks: [{command: cat /run/.containerenv}]\n';
    cluster = await Cluster.start({ playbooks: { 'site.yml': playbook } });
    api = await ApiCalls.inside(cluster);
    await cluster.workerInside({
      ...{ ...containers.settings, JOB_ISOLATION: 'bubblewrap', OUTBOUND_ALLOW: '127.0.0.1' },
    });
    const pushed = join(containers.folder, 'pushed');
    await containers.ask('push', '--quiet', 'localhost/machine:latest', `dir:${pushed}`);
    registry = await ImageRegistry.open(pushed);
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

  it('runs in a container of its image, and a run without one does not', async () => {
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

  it('is pulled with its credential, and the output of the job follows that of the pull', async () => {
    const { results } = await api.call('GET', 'credential_types/?namespace=registry');
    const login = await make('credentials/', {
      ...{ name: 'Registry', organization: 1, inputs: registry.inputs },
      credential_type: (results as Row[])[0]?.id,
    });
    const image = `${registry.host}/team/tools:1`;
    const { id } = await environment('Pulled', { image, pull: 'always', credential: login.id });
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

  it('ends with the reason when its image cannot be had', async () => {
    const image = '10.1.2.3/missing:1';
    const never = await environment('Never', { image, pull: 'never' });
    const { id } = await command({ execution_environment: never.id });
    expect(await ended('ad_hoc_commands', id, 'error')).toMatchObject({
      job_explanation:
        'The image 10.1.2.3/missing:1 of execution environment "Never" is not on this worker, and is never pulled.',
    });
    const missing = await environment('Missing', { image, pull: 'missing' });
    const pulled = await command({ execution_environment: missing.id });
    const run = await ended('ad_hoc_commands', pulled.id, 'error');
    expect(run.job_explanation).toMatch(
      /^The image 10\.1\.2\.3\/missing:1 of execution environment "Missing" could not be pulled: The address of 10\.1\.2\.3 is not permitted\./,
    );
    expect(run.output).toContain('Pulling the image 10.1.2.3/missing:1');
  });
});

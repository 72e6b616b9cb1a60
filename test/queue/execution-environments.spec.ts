/**
 * Budget: 40 s, because containers start and Ansible runs in them.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { Containers, MAY_USE_CONTAINERS } from '../support/containers.js';

/** Runs with an execution environment, on a worker whose other runs bubblewrap isolates. */
const describeHere = MAY_USE_CONTAINERS ? describe : describe.skip;
describeHere('a run with an execution environment', () => {
  let containers: Containers;
  let cluster: Cluster;
  let api: ApiCalls;
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
    cluster = await Cluster.start();
    api = await ApiCalls.inside(cluster);
    await cluster.workerInside({ ...containers.settings, JOB_ISOLATION: 'bubblewrap' });
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

  it('ends with the reason when its image cannot be had', async () => {
    const image = 'localhost/missing:1';
    const never = await environment('Never', { image, pull: 'never' });
    const { id } = await command({ execution_environment: never.id });
    expect(await ended('ad_hoc_commands', id, 'error')).toMatchObject({
      job_explanation:
        'The image localhost/missing:1 of execution environment "Never" is not on this worker, and is never pulled.',
    });
    const missing = await environment('Missing', { image, pull: 'missing' });
    const pulled = await command({ execution_environment: missing.id });
    const run = await ended('ad_hoc_commands', pulled.id, 'error');
    expect(run.job_explanation).toMatch(
      /^The image localhost\/missing:1 of execution environment "Missing" could not be pulled: The address of localhost is not permitted\./,
    );
    expect(run.output).toContain('Pulling the image localhost/missing:1');
  });
});

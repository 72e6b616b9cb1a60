/**
 * Budget: 30 s, because two workers and an API start.
 */
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

/** Two workers of different instances, and real queues: runs are where they belong. */
let cluster: Cluster;
let api: ApiCalls;

beforeAll(async () => {
  cluster = await Cluster.start({ fakeSeconds: 0.1, concurrency: 2 });
  api = await ApiCalls.inside(cluster);
  await cluster.workerInside({ JOB_ISOLATION: 'none', INSTANCE_NAME: 'west' });
  await cluster.workerInside({ JOB_ISOLATION: 'none', INSTANCE_NAME: 'east' });
});
afterAll(() => cluster.stop());

const nodesOf = async (ids: readonly number[]): Promise<string[]> => {
  expect(await cluster.over(ids, 30_000)).toEqual({ successful: ids.length });
  const rows = await cluster.rows<{ execution_node: string }>(
    'SELECT DISTINCT execution_node FROM unified_jobs WHERE id = ANY($1) ORDER BY 1',
    [ids],
  );
  return rows.map(({ execution_node: node }) => node);
};
it('uses every instance for runs that prefer none', async () => {
  expect(await nodesOf(await cluster.addJobs(4))).toEqual(['east', 'west']);
});

it('keeps runs of a group on its instances, and shows them there', async () => {
  const { id } = await api.call('POST', 'instance_groups/', {
    name: 'plains',
    policy_instance_list: ['east'],
  });
  await api.call('POST', 'job_templates/2/instance_groups/', { id });
  const ids = await cluster.addJobs(2);
  expect(await nodesOf(ids)).toEqual(['east']);
  expect(await api.call('GET', `instance_groups/${id}/jobs/`)).toMatchObject({ count: 2 });
  expect(await api.call('GET', `jobs/${ids[0]}/`)).toMatchObject({
    instance_group: id,
    summary_fields: { instance_group: { id, name: 'plains' } },
  });
  await api.call('POST', 'job_templates/2/instance_groups/', { id, disassociate: true });
});

it('gives a disabled instance nothing until it is enabled again', async () => {
  const { results } = await api.call('GET', 'instances/?hostname=west');
  const path = `instances/${(results as { id: number }[])[0]!.id}/`;
  await api.call('PATCH', path, { enabled: false });
  expect(await nodesOf(await cluster.addJobs(2))).toEqual(['east']);
  await api.call('PATCH', path, { enabled: true });
  expect(await nodesOf(await cluster.addJobs(4))).toEqual(['east', 'west']);
});

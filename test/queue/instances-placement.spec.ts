/**
 * Budget: 30 s, because two workers and an API start.
 */
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { eventually } from '../support/eventually.js';

/** Two workers of different instances, with real queues: each run is executed by its instance. */
let cluster: Cluster;
let api: ApiCalls;
/** A stand-in for Podman, which only west has. */
let podman: string;

beforeAll(async () => {
  cluster = await Cluster.start({ fakeSeconds: 0.1, concurrency: 2 });
  podman = join(cluster.folder, 'podman');
  await writeFile(podman, '#!/bin/sh\n[ "$1" = --version ] && echo podman version 4.3.1\n');
  await chmod(podman, 0o755);
  api = await ApiCalls.inside(cluster);
  const shared = { JOB_ISOLATION: 'none', JOB_CONTAINER_ENGINE: podman };
  await cluster.workerInside({ ...shared, INSTANCE_NAME: 'west' });
  await cluster.workerInside({ ...shared, INSTANCE_NAME: 'east', JOB_CONTAINER_ENGINE: '/none' });
});
afterAll(() => cluster.stop());

const nodesOf = async (ids: readonly number[]): Promise<string[]> => {
  expect(await cluster.over(ids)).toEqual({ successful: ids.length });
  const rows = await cluster.rows<{ execution_node: string }>(
    'SELECT DISTINCT execution_node FROM unified_jobs WHERE id = ANY($1) ORDER BY 1',
    [ids],
  );
  return rows.map(({ execution_node: node }) => node);
};
it('all instances execute runs without a group', async () => {
  expect(await nodesOf(await cluster.addJobs(4))).toEqual(['east', 'west']);
});

it('runs of a group are executed and shown on its instances', async () => {
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

it('a disabled instance gets no runs until it is enabled again', async () => {
  const { results } = await api.call('GET', 'instances/?hostname=west');
  const path = `instances/${(results as { id: number }[])[0]!.id}/`;
  await api.call('PATCH', path, { enabled: false });
  expect(await nodesOf(await cluster.addJobs(2))).toEqual(['east']);
  await api.call('PATCH', path, { enabled: true });
  expect(await nodesOf(await cluster.addJobs(4))).toEqual(['east', 'west']);
});

it('a run in a container needs an engine, which a health check finds again', async () => {
  const environment = await api.call('POST', 'execution_environments/', {
    ...{ name: 'Tools', image: 'localhost/tools', pull: 'never' },
  });
  await api.call('PATCH', 'job_templates/2/', { execution_environment: environment.id });
  const { results } = await api.call('GET', 'instances/?hostname=west');
  const path = `instances/${(results as { id: number }[])[0]!.id}/`;
  expect(await api.call('GET', path)).toMatchObject({ container_engine: 'podman version 4.3.1' });
  // The engine is gone, which no worker has noticed.
  await rename(podman, `${podman}-gone`);
  const { job } = await api.call('POST', 'job_templates/2/launch/', {});
  await eventually(async () => {
    expect(await api.call('GET', path)).toMatchObject({ container_engine: '' });
    expect(await api.call('GET', `jobs/${job}/`)).toMatchObject({ status: 'pending' });
  });
  await rename(`${podman}-gone`, podman);
  expect(await api.call('POST', `${path}health_check/`)).toEqual({
    msg: 'Health check is running for west.',
  });
  expect(await cluster.becomes(Number(job), 'error', 15_000)).toBeTruthy();
  expect(await api.call('GET', `jobs/${job}/`)).toMatchObject({
    execution_node: 'west',
    job_explanation:
      'The image localhost/tools of execution environment "Tools" is not on this worker, and is never pulled. Pull it there, or choose another value of "pull".',
  });
  expect(await api.call('GET', path)).toMatchObject({
    ...{ health_check_pending: false, errors: '', capacity: expect.any(Number) },
  });
});

/**
 * A worker without a sandbox executes no runs if it is root, and otherwise runs of one organization only.
 *
 * Budget: 30 s, because four workers start, each with its own settings.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Cluster } from '../faults/support/cluster.js';
import { eventually } from '../support/eventually.js';

const isRoot = process.getuid?.() === 0;
/** An account every system has. */
const NOBODY = 65_534;
/** Several passes of the scheduler, and heartbeats of the worker. */
const LONG_ENOUGH_MS = 30_000;
const STUB = `#!/bin/sh
echo 'bwrap: setting up uid map: Permission denied' >&2
exit 1
`;

let cluster: Cluster;
afterEach(() => cluster.stop());

/** Starts an installation whose worker has a bubblewrap that the machine does not permit. */
async function start(uid: number | undefined): Promise<void> {
  cluster = await Cluster.start({ fakeSeconds: 0, ...(uid === undefined ? {} : { uid }) });
  const folder = join(cluster.folder, 'stub');
  await mkdir(folder);
  await writeFile(join(folder, 'bwrap'), STUB, { mode: 0o755 });
  await cluster.worker({ PATH: `${folder}:${cluster.environment().PATH}`, JOB_ISOLATION: 'auto' });
}

async function expectRefusal(reason: string): Promise<void> {
  await eventually(async () => {
    // A heartbeat stores the machine first, then the worker.
    const [reported] = await cluster.rows(`
      SELECT isolation, isolation_detail, worker_nodes.capacity
      FROM instances JOIN worker_nodes USING (hostname)`);
    expect(reported).toEqual({
      isolation: 'none',
      isolation_detail: expect.stringContaining(reason) as string,
      capacity: 0,
    });
  }, LONG_ENOUGH_MS);
  const [first] = (await cluster.addJobs(1)) as [number];
  await isProcessed(first);
  // A processed second job proves that the scheduler has finished its pass over the first.
  const [second] = (await cluster.addJobs(1)) as [number];
  await isProcessed(second);
  expect((await cluster.job(first)).status).toBe('pending');
}

/** Waits until a pass of the scheduler has processed a pending job. */
async function isProcessed(id: number): Promise<void> {
  await eventually(async () => {
    cluster.wake();
    expect(await cluster.job(id)).toMatchObject({ dependencies_processed: true });
  }, LONG_ENOUGH_MS);
}

if (isRoot) {
  it('a worker as root without a sandbox accepts no runs', async () => {
    await start(undefined);
    await expectRefusal('As root this worker starts no runs');
  }, 120_000);
}

it('a worker as a plain user without a sandbox accepts the runs of one organization only', async () => {
  await start(isRoot ? NOBODY : undefined);
  const [id] = (await cluster.addJobs(1)) as [number];
  expect(await cluster.becomes(id, 'successful', 40_000)).toMatchObject({ isolation: 'none' });
  await cluster.rows(`INSERT INTO organizations (name) VALUES ('Another')`);
  await expectRefusal('more than one organization');
}, 120_000);

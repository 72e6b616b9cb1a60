/**
 * Budget: 35 s, because three kinds of workers each start, fetch and are killed.
 *
 * The git of a worker ends with its sync, with its run and with its worker, and does not start without a
 * sandbox.
 */
import { chown, mkdir, readdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { Cluster } from '../faults/support/cluster.js';
import { processesWith } from '../faults/support/processes.js';
import { portOf, TestRepository } from '../runner/git-servers.js';
import { Containers } from '../support/containers.js';
import { eventually } from '../support/eventually.js';
import { IS_DEEP } from '../support/depth.js';
import { WORKERS } from './worker-kinds.js';

/** Text of the error if only git and a shell are installed. */
const MISSING = { bubblewrap: 'install the package bubblewrap', container: 'podman' };

/**
 * Returns the folders of git sessions. The worker's check of the container engine has its own next to them.
 */
const sessionsIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('git-'));

describe.each(WORKERS)('git of a worker that is $account, by $kind', ({ uid, kind }) => {
  let containers: Containers | undefined;
  let isolated: Record<string, string>;
  let cluster: Cluster;
  let head: string;
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  const url = (): string => `http://127.0.0.1:${portOf(silent)}/silent.git`;
  const gits = () => processesWith(url());

  beforeAll(async () => {
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const starting = Cluster.start(uid === undefined ? {} : { uid });
    if (kind === 'container') containers = await Containers.prepare(uid);
    cluster = await starting;
    isolated = containers?.settings ?? { JOB_ISOLATION: kind };
    await cluster.rows(
      `INSERT INTO unified_job_templates (id, type, name, organization_id, local_path, scm_type, scm_url)
       VALUES (10, 'project', 'Silent', 1, '_10__silent', 'git', $1)`,
      [url()],
    );
    const repository = await TestRepository.create(join(cluster.folder, 'origin'), { x: '1' });
    head = await repository.git('rev-parse', 'HEAD');
    await cluster.rows(
      `INSERT INTO unified_job_templates (id, type, name, organization_id, local_path, scm_type, scm_url)
       VALUES (11, 'project', 'Whole', 1, '_11__whole', 'git', $1)`,
      [repository.url],
    );
  }, 90_000);
  afterAll(async () => {
    await cluster.stop();
    await containers?.remove();
    await new Promise((resolve) => silent.close(resolve));
  });

  async function addSync(project = 10): Promise<number> {
    const [row] = await cluster.rows<{ id: number }>(
      `INSERT INTO unified_jobs (type, name, unified_job_template_id, project_id, organization_id,
         status, scm_type, scm_url, local_path)
       SELECT 'project_update', name, id, id, organization_id, 'pending', scm_type, scm_url, local_path
       FROM unified_job_templates WHERE id = $1 RETURNING id`,
      [project],
    );
    cluster.wake();
    return row?.id ?? 0;
  }

  const someGits = () =>
    eventually(async () => expect((await gits()).length).toBeGreaterThan(0), 30_000);

  // The first kind shows that another worker removes what is left and syncs again. The rule is the same for all.
  const isVariant = !IS_DEEP && (kind !== WORKERS[0]?.kind || uid !== undefined);

  it('writes a project into its folder, and ends with its sync or its worker', async () => {
    const own = join(cluster.folder, 'temporary');
    await mkdir(own);
    if (uid !== undefined) await chown(own, uid, uid);
    const settings = {
      ...{ OUTBOUND_ALLOW: '127.0.0.0/8', PROJECT_SCM_SCHEMES: 'file,http' },
      ...{ PROJECT_FILE_ROOTS: cluster.folder, TMPDIR: own, ...isolated },
    };
    const worker = await cluster.worker(settings);
    // The first sync fetches into an empty folder, the second into an existing one.
    for (const id of [await addSync(11), await addSync(11)]) {
      expect(await cluster.becomes(id, 'successful', 30_000)).toMatchObject({
        scm_revision: head,
      });
    }

    const canceled = await addSync();
    await someGits();
    await cluster.cancel(canceled);
    await cluster.becomes(canceled, 'canceled', 30_000);
    expect(await gits()).toEqual([]);
    expect(await sessionsIn(own)).toEqual([]);

    const interrupted = await addSync();
    await someGits();
    if (isVariant) {
      worker.child.kill('SIGKILL');
      await worker.ended;
      await eventually(async () => expect(await gits()).toEqual([]), 10_000);
      return;
    }
    const [left = ''] = await sessionsIn(own);
    // No process has this id: when its folder is gone, the other worker has started completely.
    const older = join(own, `git-${2 ** 22 + 1}-1-older`);
    await mkdir(older);
    if (uid !== undefined) await chown(older, uid, uid);
    const other = await cluster.worker(settings);
    await eventually(async () => expect(await sessionsIn(own)).toEqual([left]), 30_000);
    // While it is stopped, the other worker starts no git of its own.
    other.child.kill('SIGSTOP');
    worker.child.kill('SIGKILL');
    await worker.ended;
    await eventually(async () => expect(await gits()).toEqual([]), 10_000);
    other.child.kill('SIGCONT');
    await eventually(async () => expect(await sessionsIn(own)).not.toContain(left), 30_000);
    // The other worker starts the sync again, with a session of its own.
    await eventually(async () => expect(await sessionsIn(own)).toHaveLength(1), 30_000);
    expect((await cluster.job(interrupted)).status).toMatch(/^(waiting|running)$/);
    other.child.kill('SIGKILL');
    await other.ended;
    await cluster.rows(`DELETE FROM unified_jobs WHERE type = 'project_update'`);
  }, 120_000);

  // The rule is the same for all kinds (isolation.spec.ts). The first kind shows that git obeys it.
  if (isVariant) return;

  it('does not start if the sandbox is required and not available', async () => {
    const bare = join(cluster.folder, 'bare-bin');
    await mkdir(bare);
    for (const name of ['git', 'sh', 'find', 'chown']) {
      await symlink(join('/usr/bin', name), join(bare, name));
    }
    // A worker of this instance from before a restart still counts for a few seconds.
    await cluster.rows(
      `INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity, last_seen)
       VALUES ('before', $1, 'before', 1, '', 4, now() - make_interval(secs => 27))`,
      [hostname()],
    );
    const worker = await cluster.worker({
      ...{ OUTBOUND_ALLOW: '127.0.0.0/8', ...isolated, PATH: bare },
    });
    const id = await addSync();
    // State of a run that was assigned before the worker had detected the missing sandbox.
    await cluster.rows(
      `UPDATE unified_jobs SET status = 'waiting', execution_node = $2,
        instance_group_id = (SELECT id FROM instance_groups WHERE name = 'default')
      WHERE id = $1`,
      [id, hostname()],
    );
    await cluster.rows(`INSERT INTO outbox (queue, subject_id, machine) VALUES ('runs', $1, $2)`, [
      id,
      hostname(),
    ]);
    await cluster.becomes(id, 'pending', 30_000);
    const [instance] = await cluster.rows<{ isolation_detail: string }>(
      'SELECT isolation_detail FROM instances',
    );
    expect(instance?.isolation_detail).toContain('Runs cannot be isolated');
    expect(instance?.isolation_detail).toContain(MISSING[kind]);
    expect(await gits()).toEqual([]);
    worker.child.kill('SIGTERM');
    await worker.ended;
    await cluster.rows('DELETE FROM unified_jobs WHERE id = $1', [id]);
  }, 90_000);
});

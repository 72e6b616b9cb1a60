/**
 * Budget: 60 s, because runs of Ansible are canceled and time out.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { Database } from '../../src/database/database.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { Cluster, type JobRow } from '../faults/support/cluster.js';
import { writeFakeRunner } from '../faults/support/fake-runner.js';
import { eventually } from '../support/eventually.js';

const PLAYBOOKS = {
  'site.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug: {msg: "{{ greeting | default('none') }} from {{ svc_job_template_name }} to {{ receiver | default('none') }}"}
    - command: echo done
    - set_stats: {data: {answer: 42}}
`,
  'broken.yml': `- hosts: all
  gather_facts: false
  tasks:
    - command: /bin/false
`,
  'hook.yml': `- hosts: all
  gather_facts: false
  tasks:
    - debug:
        msg: "{{ svc_webhook_event_type }} {{ awx_webhook_event_ref }} {{ tower_webhook_event_ref }}
          {{ svc_webhook_payload.word }} {{ svc_job_launch_type }}"
`,
  'long.yml': `- hosts: all
  gather_facts: false
  tasks:
    - command: sleep 60
`,
  'discreet.yml': `- hosts: all
  gather_facts: false
  tasks:
    - set_stats: {data: {token: canary-of-no-log}}
      no_log: true
    - set_stats: {data: {answer: 42}}
`,
};

/** Runs of one worker process, with real git and real `ansible-runner`. */
describe('runs', () => {
  let cluster: Cluster;
  let repository: string;
  let database: Database;
  let transitions: RunTransitions;

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: repository,
      encoding: 'utf8',
    }).trim();

  const commit = (file: string, text: string): string => {
    writeFileSync(join(repository, file), text);
    git('add', '.');
    git('commit', '-qm', file);
    return git('rev-parse', 'HEAD');
  };

  const set = (table: string, id: number, column: string, value: unknown) =>
    cluster.rows(`UPDATE ${table} SET ${column} = $2 WHERE id = $1`, [id, value]);
  const events = (id: number) =>
    cluster.rows<{ event: string; stdout: string; failed: boolean }>(
      'SELECT * FROM job_events WHERE job_id = $1 ORDER BY counter',
      [id],
    );
  const outputOf = async (id: number) => (await events(id)).map(({ stdout }) => stdout).join('\n');

  /** Creates a job of the template, and sets its columns before the scheduler can see it. */
  async function launch(fields: Record<string, unknown> = {}, template = 2): Promise<number> {
    const [id] = (await cluster.addJobs(1, { template, status: 'new' })) as [number];
    for (const [column, value] of Object.entries(fields)) {
      await set('unified_jobs', id, column, value);
    }
    await set('unified_jobs', id, 'status', 'pending');
    cluster.wake();
    return id;
  }

  const fetched = () => join(cluster.folder, 'data', 'projects', '_10__fetched');

  /** The first job of the project from git, which syncs it; no later job of the project does. */
  let first: Promise<{ job: JobRow; updates: JobRow[]; project: object }> | undefined;
  const firstOfProject = () =>
    (first ??= (async () => {
      const job = await cluster.becomes(await launch({}, 11), 'successful');
      const updates = await cluster.rows<JobRow>(
        `SELECT * FROM unified_jobs WHERE type = 'project_update' AND project_id = 10`,
      );
      const [project = {}] = await cluster.rows(
        'SELECT * FROM unified_job_templates WHERE id = 10',
      );
      await set('unified_job_templates', 10, 'scm_update_on_launch', false);
      return { job, updates, project };
    })());

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS, concurrency: 3 });
    repository = join(cluster.folder, 'repository');
    mkdirSync(repository);
    git('init', '-q', '-b', 'main');
    commit('site.yml', PLAYBOOKS['site.yml']);
    await cluster.rows(
      `INSERT INTO unified_job_templates
         (id, type, name, organization_id, local_path, scm_type, scm_url, scm_branch,
          scm_update_on_launch, allow_override)
       VALUES (10, 'project', 'Fetched', 1, '_10__fetched', 'git', $1, '', true, true),
         (12, 'project', 'Unfetched', 1, '_12__unfetched', 'git', $1, 'nowhere', true, true)`,
      [`file://${repository}`],
    );
    await cluster.rows(`
      INSERT INTO unified_job_templates
        (id, type, name, organization_id, project_id, inventory_id, playbook, allow_simultaneous)
      VALUES (11, 'job_template', 'From git', 1, 10, 1, 'site.yml', true),
        (13, 'job_template', 'From nowhere', 1, 12, 1, 'site.yml', true)`);
    const worker = await cluster.workerInside({
      PROJECT_SCM_SCHEMES: 'https,http,file',
      PROJECT_FILE_ROOTS: cluster.folder,
      OUTBOUND_ALLOW: '127.0.0.0/8',
    });
    database = worker.get(Database, { strict: false });
    transitions = worker.get(RunTransitions, { strict: false });
  });

  afterAll(() => cluster.stop());

  it('store events, host summaries, counts and artifacts of a playbook', async () => {
    const template = 'greeting: "{{ 40 + 2 }}"\nreceiver: "{{ 40 + 2 }}"';
    await set('unified_job_templates', 2, 'extra_vars', template);
    const id = await launch({
      extra_vars: '{"greeting": "{{ 40 + 2 }}", "receiver": "{{ 40 + 3 }}"}',
    });
    const job = await cluster.becomes(id, 'successful');
    await set('unified_job_templates', 2, 'extra_vars', '');
    expect(job).toMatchObject({
      artifacts: { answer: 42 },
      host_status_counts: { changed: 1 },
      playbook_counts: { play_count: 1, task_count: 3 },
      event_processing_finished: true,
      failed: false,
    });
    const stored = await events(id);
    expect(stored).toHaveLength(
      Number((job as unknown as { emitted_events: number }).emitted_events),
    );
    expect(stored.find(({ event }) => event === 'playbook_on_start')).toMatchObject({
      changed: true,
    });
    // Templates are evaluated in variables of the template only, never in those of a launch.
    expect(await outputOf(id)).toContain('42 from Overlapping to {{ 40 + 3 }}');
    const [summary] = await cluster.rows(
      `SELECT s.*, h.last_job_id FROM job_host_summaries s JOIN hosts h ON h.last_job_host_summary_id = s.id
       WHERE s.job_id = $1`,
      [id],
    );
    expect(summary).toMatchObject({ host_name: 'localhost', ok: 3, changed: 1, last_job_id: id });
  });

  it('hide statistics if some were set under no_log', async () => {
    const id = await launch({ playbook: 'discreet.yml' });
    const job = await cluster.becomes(id, 'successful');
    expect(job).toMatchObject({ artifacts: '$hidden due to Ansible no_log flag$' });
    const [stats] = await cluster.rows(
      `SELECT event_data -> 'artifact_data' AS artifact_data FROM job_events
       WHERE job_id = $1 AND event = 'playbook_on_stats'`,
      [id],
    );
    expect(stats).toEqual({ artifact_data: '$hidden due to Ansible no_log flag$' });
    const [leaks] = await cluster.rows(
      `SELECT count(*)::int AS leaks FROM job_events
       WHERE job_id = $1 AND event_data::text || stdout LIKE '%canary-of-no-log%'`,
      [id],
    );
    expect(leaks).toEqual({ leaks: 0 });
  });

  it('mark failed plays and playbooks', async () => {
    const id = await launch({ playbook: 'broken.yml' });
    const job = await cluster.becomes(id, 'failed');
    expect(job).toMatchObject({ job_explanation: '', host_status_counts: { failures: 1 } });
    const failed = (await events(id)).filter((event) => event.failed).map(({ event }) => event);
    expect(failed).toEqual(
      expect.arrayContaining(['playbook_on_start', 'playbook_on_play_start', 'runner_on_failed']),
    );
  });

  it('end when they are canceled', async () => {
    const id = await launch({ playbook: 'long.yml' });
    await eventually(async () => expect((await events(id)).length).toBeGreaterThan(2), 20_000);
    await set('unified_jobs', id, 'cancel_requested', true);
    // The message through Redis only speeds this up: the lease renewal finds the flag without it.
    const job = await cluster.becomes(id, 'canceled', 30_000);
    expect(job).toMatchObject({ failed: true });
  });

  it('end after their timeout', async () => {
    const id = await launch({ playbook: 'long.yml', timeout: 3 });
    const job = await cluster.becomes(id, 'failed');
    expect(job.job_explanation).toBe('Job terminated due to timeout');
  });

  it.each([
    [
      'inventory_id',
      null,
      'failed',
      'Job could not start because it does not have a valid inventory.',
    ],
    ['project_id', null, 'failed', 'Job could not start because it does not have a valid project.'],
    ['playbook', 'nowhere.yml', 'error', '"nowhere.yml" does not exist in the project.'],
  ])('report a missing object: %s', async (column, value, status, explanation) => {
    const id = await launch({ [column]: value });
    expect((await cluster.becomes(id, status, 30_000)).job_explanation).toBe(explanation);
  });

  it('pass the variables of its delivery to a webhook job', async () => {
    const [delivery] = await cluster.rows<{ id: number }>(
      `INSERT INTO webhook_deliveries (template_id, service, event, guid, ref, verdict, payload)
       VALUES (2, 'service_a', 'push', 'guid-1', 'abc', 'accepted', '{"word": "{{ 1 + 1 }}"}') RETURNING id`,
    );
    const variables = '{"greeting": "hi"}';
    const id = await launch({
      webhook_delivery_id: delivery!.id,
      launch_type: 'webhook',
      extra_vars: variables,
      playbook: 'hook.yml',
    });
    await cluster.over([id]);
    expect(await outputOf(id)).toContain('push abc abc {{ 1 + 1 }} webhook');
  });

  /** A stand-in replaces Ansible: webhook-checkouts.spec.ts runs the files of a checked out revision. */
  describe('of a project from git', () => {
    const { PATH } = process.env;
    beforeAll(async () => {
      const ledger = join(cluster.folder, 'ledger');
      process.env.PATH = `${await writeFakeRunner(cluster.folder, ledger, 0)}:${PATH}`;
    });
    afterAll(() => {
      process.env.PATH = PATH;
    });

    it('sync their project first and use its latest revision', async () => {
      const revision = git('rev-parse', 'HEAD');
      const { job, updates, project } = await firstOfProject();
      expect(job).toMatchObject({ scm_revision: revision });
      const [update] = updates;
      expect(update).toMatchObject({ launch_type: 'dependency', status: 'successful' });
      expect(await outputOf(update!.id)).toContain(`Revision: ${revision}`);
      expect(project).toMatchObject({
        scm_revision: revision,
        playbook_files: ['site.yml'],
        status: 'successful',
        last_job_id: update!.id,
      });
    });

    it('use a ref that is newer than the last sync, if the project permits it', async () => {
      await firstOfProject();
      const synced = git('rev-parse', 'HEAD');
      git('checkout', '-q', '-b', 'topic');
      const newer = commit('site.yml', PLAYBOOKS['site.yml'].replace('from', 'out of'));
      git('checkout', '-q', 'main');
      const [byCommit, byBranch, plain] = [
        await launch({ scm_branch: newer }, 11),
        await launch({ scm_branch: 'topic' }, 11),
        await launch({}, 11),
      ];
      await cluster.over([byCommit, byBranch, plain]);
      expect(await cluster.job(byCommit)).toMatchObject({ scm_revision: newer });
      expect(await cluster.job(byBranch)).toMatchObject({ scm_revision: newer });
      expect(await cluster.job(plain)).toMatchObject({
        scm_revision: synced,
        status: 'successful',
      });
    });

    it('restore a missing project folder during the job', async () => {
      await firstOfProject();
      rmSync(fetched(), { recursive: true, force: true });
      const id = await launch({}, 11);
      const job = await cluster.becomes(id, 'successful', 30_000);
      const [update] = await cluster.rows('SELECT * FROM unified_jobs WHERE id = $1', [
        (job as unknown as { project_update_id: number }).project_update_id,
      ]);
      expect(update).toMatchObject({ launch_type: 'sync', status: 'successful' });
      const entries = await cluster.rows(
        `SELECT operation FROM activity_stream WHERE object1 = 'project_update' AND object1_id = $1`,
        [(update as { id: number }).id],
      );
      expect(entries).toEqual([{ operation: 'create' }]);
    });

    it('check out no project while a sync can delete its folder', async () => {
      await firstOfProject();
      await set('unified_job_templates', 10, 'scm_delete_on_update', true);
      await database.withClient(async (client) => {
        await client.query('SELECT pg_advisory_lock(7402, 10)');
        const id = await launch({}, 11);
        const waiting = `SELECT 1 FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%try_advisory_lock_shared($1%'`;
        await eventually(async () => expect(await cluster.rows(waiting)).toHaveLength(1), 20_000);
        await client.query('SELECT pg_advisory_unlock(7402, 10)');
        await cluster.becomes(id, 'successful', 30_000);
      });
      await set('unified_job_templates', 10, 'scm_delete_on_update', false);
    });

    it('sync an archive whose revision another worker has imported', async () => {
      const archive = git('archive', '--format=tar', 'HEAD');
      const server = createServer((_request, response) => response.end(archive));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      await cluster.rows(
        `INSERT INTO unified_job_templates
           (id, type, name, organization_id, local_path, scm_type, scm_url, scm_branch)
         VALUES (14, 'project', 'Archive', 1, '_14__archive', 'archive', $1, '')`,
        [`http://127.0.0.1:${port}/site.tar`],
      );
      await set('unified_job_templates', 11, 'project_id', 14);
      try {
        await cluster.becomes(await launch({}, 11), 'successful', 30_000);
        await set('unified_job_templates', 14, 'scm_revision', 'f'.repeat(40));
        await cluster.becomes(await launch({}, 11), 'successful', 30_000);
      } finally {
        await set('unified_job_templates', 11, 'project_id', 10);
        server.close();
      }
    });

    it('do not sync their project after a request to cancel', async () => {
      await firstOfProject();
      renameSync(fetched(), `${fetched()}.away`);
      const id = await launch({ cancel_requested: true }, 11);
      await cluster.becomes(id, 'canceled', 30_000);
      renameSync(`${fetched()}.away`, fetched());
      expect(await cluster.job(id)).toMatchObject({ project_update_id: null });
    });

    it('fail with the name of the failed sync', async () => {
      const id = await launch({}, 13);
      const job = await cluster.becomes(id, 'failed', 30_000);
      expect(job.job_explanation).toMatch(
        /^Previous Task Failed: \{"job_type": "project_update", "job_name": "Unfetched", "job_id": "\d+"\}$/,
      );
      const [update] = await cluster.rows<{ id: number; job_explanation: string }>(
        `SELECT * FROM unified_jobs WHERE type = 'project_update' ORDER BY id DESC LIMIT 1`,
      );
      expect(update!.job_explanation).toContain('"nowhere" does not exist');
      expect(await outputOf(update!.id)).toContain('"nowhere" does not exist');
    });

    it('are canceled with a canceled sync of their own', async () => {
      await firstOfProject();
      rmSync(fetched(), { recursive: true, force: true });
      const id = await launch({}, 11);
      const update = await database.withClient(async (client) => {
        await client.query('SELECT pg_advisory_lock(7402, 10)');
        const syncs = () =>
          cluster.rows<{ id: number }>(
            `SELECT id FROM unified_jobs WHERE launch_type = 'sync' AND status = 'running'`,
          );
        await eventually(async () => expect(await syncs()).toHaveLength(1), 20_000);
        const [sync] = await syncs();
        await transitions.cancel([sync!.id]);
        return cluster.becomes(sync!.id, 'canceled', 20_000);
      });
      expect(update.job_explanation).toBe('');
      expect((await cluster.becomes(id, 'canceled', 20_000)).job_explanation).toBe(
        `Previous Task Canceled: {"job_type": "project_update", "job_name": "Fetched", "job_id": "${update.id}"}`,
      );
    });

    it('leave no sync that cannot start', async () => {
      await firstOfProject();
      rmSync(fetched(), { recursive: true, force: true });
      await cluster.rows(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE 'The sync does not start'; END $$`);
      await cluster.rows(`
        CREATE TRIGGER refuse BEFORE UPDATE ON unified_jobs FOR EACH ROW
        WHEN (NEW.launch_type = 'sync' AND NEW.status = 'running') EXECUTE FUNCTION refuse()`);
      const id = await launch({}, 11);
      await cluster.becomes(id, 'error', 30_000);
      await cluster.rows('DROP FUNCTION refuse CASCADE');
      const left = `SELECT * FROM unified_jobs WHERE launch_type = 'sync' AND status = 'new'`;
      expect(await cluster.rows(left)).toEqual([]);
    });
  });
});

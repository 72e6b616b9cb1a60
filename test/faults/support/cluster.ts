/**
 * One installation for a fault test: a database, a Redis server and a data folder of its own, and any
 * number of API and worker processes that may be killed.
 *
 *   const cluster = await Cluster.start({ playbooks: { 'site.yml': '...' } });
 *   const worker = await cluster.worker();
 *   const [id] = await cluster.addJobs(1);
 *   await eventually(async () => expect(await cluster.status(id)).toBe('running'));
 *   worker.child.kill('SIGKILL');
 *   await cluster.stop();
 *
 * `addJobs` writes the rows a launch writes; tests of the launch itself use `api()`. A test that ends
 * neither API nor worker has both in its own process (`apiInside`, `workerInside`), which is loaded already.
 */
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { INestApplicationContext } from '@nestjs/common';
import { Redis } from 'ioredis';
import type pg from 'pg';

import { eventually } from '../../support/eventually.js';
import { ClusterDatabase, type DatabaseServer } from './cluster-database.js';
import { writeFakeRunner } from './fake-runner.js';
import { freePort, Processes, type Environment, type Program, type Uid } from './processes.js';

export interface ClusterOptions {
  /** Files of the only project, which is manual. */
  playbooks?: Record<string, string>;
  /** Number of jobs that a worker runs at the same time. */
  concurrency?: number;
  /** Duration of a playbook in seconds. If set, a stand-in replaces `ansible-runner`. */
  fakeSeconds?: number;
  /** Account of the processes instead of that of the tests, which is then root. */
  uid?: Uid;
  /** Database server of this cluster, which tests may kill. It ends with the cluster. */
  server?: DatabaseServer;
}

export interface JobRow {
  id: number;
  status: string;
  job_explanation: string;
  attempt: number;
  execution_node: string;
}

const FINAL = ['successful', 'failed', 'error', 'canceled'];
const START_MS = 60_000;

export class Cluster {
  private readonly processes: Processes;
  private redisServer: Program | undefined;
  private redis: Redis | undefined;
  /** APIs and workers in this process. */
  private readonly inside: INestApplicationContext[] = [];

  private constructor(
    readonly folder: string,
    readonly database: ClusterDatabase,
    readonly redisPort: number,
    private readonly options: ClusterOptions,
    private readonly path: string,
  ) {
    this.processes = new Processes(options.uid);
  }

  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), 'faults-'));
    const database = await ClusterDatabase.start(options.server ?? null);
    // Playbooks write to the ledger from inside the sandbox, as another account.
    await writeFile(join(folder, 'ledger'), '');
    await chmod(join(folder, 'ledger'), 0o666);
    const { fakeSeconds } = options;
    const bin =
      fakeSeconds === undefined
        ? ''
        : `${await writeFakeRunner(folder, join(folder, 'ledger'), fakeSeconds)}:`;
    const path = `${bin}${process.env.PATH ?? ''}`;
    const { uid } = options;
    if (uid !== undefined) await chown(folder, uid, uid);
    const cluster = new Cluster(folder, database, await freePort(), options, path);
    await cluster.startRedis();
    await cluster.fill();
    return cluster;
  }

  async stop(): Promise<void> {
    for (const one of this.inside.toReversed()) await one.close();
    this.redis?.disconnect();
    await this.processes.endAll();
    await this.database.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async startRedis(): Promise<void> {
    this.redisServer = this.processes.redis(this.redisPort, this.folder);
    await eventually(() => {
      if (!this.redisServer?.output().includes('Ready to accept')) throw new Error('no Redis yet');
    }, START_MS);
    this.redis ??= new Redis(this.redisPort, '127.0.0.1');
    this.redis.on('error', () => undefined);
  }

  /** Empties Redis, as if it had lost all data. */
  async flushRedis(): Promise<void> {
    await this.redis?.flushall();
  }

  async killRedis(): Promise<void> {
    this.redisServer?.child.kill('SIGKILL');
    await this.redisServer?.ended;
  }

  /** Ends all processes, and removes the data folder and all data of Redis. */
  async loseMachine(): Promise<void> {
    await this.processes.endAll();
    await rm(join(this.folder, 'data'), { recursive: true });
    await this.startRedis();
  }

  /** Starts a worker and waits until the scheduler knows it. */
  async worker(environment: Environment = {}): Promise<Program> {
    const program = this.processes.worker({ ...this.environment(), ...environment });
    await eventually(async () => {
      const nodes = await this.rows('SELECT 1 FROM worker_nodes WHERE pid = $1', [
        program.child.pid,
      ]);
      if (nodes.length === 0) throw new Error(`No worker: ${program.output().slice(-2000)}`);
    }, START_MS);
    return program;
  }

  /** Starts an API process, waits until it serves, and returns its address. */
  async api(environment: Environment = {}): Promise<Program & { url: string }> {
    const port = environment.PORT ?? String(await freePort());
    const program = this.processes.api({
      ...this.environment(),
      PORT: port,
      ...environment,
    });
    const url = `http://127.0.0.1:${port}`;
    await eventually(async () => {
      const answer = await fetch(`${url}/health/live`).catch(() => null);
      if (!answer?.ok) throw new Error(`No API: ${program.output().slice(-2000)}`);
    }, START_MS);
    return { ...program, url };
  }

  /** Starts a worker in this process. It ends with the cluster. */
  async workerInside(environment: Environment = {}): Promise<INestApplicationContext> {
    // Most users of a cluster start the bundles and need not load the product.
    const { startWorker, withEnvironment } = await import('../../support/boot.js');
    const variables = { ...this.environment(), ...environment };
    const worker = await withEnvironment(variables, () => startWorker());
    this.inside.push(worker);
    // Runs search it for `ansible-runner`. It is restored at the end of the file.
    process.env.PATH = this.path;
    return worker;
  }

  /** Starts an API in this process and returns its address. It ends with the cluster. */
  async apiInside(environment: Environment = {}): Promise<{ url: string }> {
    const { start, urlOf, withEnvironment } = await import('../../support/boot.js');
    const variables = { ...this.environment(), ...environment };
    const app = await withEnvironment(variables, () => start());
    this.inside.push(app);
    return { url: urlOf(app) };
  }

  /**
   * Ends the leases of killed processes on messages, notifications and status posts. They would expire after
   * up to a minute; the tests do not wait for it.
   */
  async forgetTheDead(): Promise<void> {
    await this.rows('UPDATE outbox SET enqueued_at = NULL');
    for (const table of ['notifications', 'webhook_status_posts']) {
      await this.rows(`UPDATE ${table} SET lease_until = now() WHERE lease_until IS NOT NULL`);
    }
  }

  /** Creates pending jobs of the template as a launch does. */
  async addJobs(
    count: number,
    { template = 2, playbook = 'site.yml', status = 'pending', extraVars = {} } = {},
  ): Promise<number[]> {
    const rows = await this.rows<{ id: number }>(
      `INSERT INTO unified_jobs (type, name, unified_job_template_id, job_template_id, project_id,
         inventory_id, organization_id, playbook, allow_simultaneous, status, extra_vars)
       SELECT 'job', name, id, id, project_id, inventory_id, organization_id, $2,
         allow_simultaneous, $4, $5
       FROM unified_job_templates, generate_series(1, $3) WHERE id = $1 RETURNING id`,
      [template, playbook, count, status, JSON.stringify(extraVars)],
    );
    this.wake();
    return rows.map(({ id }) => id);
  }

  /** Wakes the scheduler as a launch does after its commit. The message is lost if Redis is down. */
  wake(): void {
    this.redis?.publish('controller:scheduler:wake', '').catch(() => undefined);
  }

  /** Cancels a run as the API does: by its row, then by a message. */
  async cancel(id: number): Promise<void> {
    await this.rows('UPDATE unified_jobs SET cancel_requested = true WHERE id = $1', [id]);
    await this.redis?.publish('controller:runs:cancel', JSON.stringify([id]));
  }

  async job(id: number): Promise<JobRow> {
    const [row] = await this.rows<JobRow>('SELECT * FROM unified_jobs WHERE id = $1', [id]);
    if (!row) throw new Error(`No job ${id}`);
    return row;
  }

  /** Waits until a job has a status. */
  async becomes(id: number, status: string, timeoutMs = START_MS): Promise<JobRow> {
    return eventually(async () => {
      const row = await this.job(id);
      if (row.status !== status)
        throw new Error(`job ${id} is ${row.status}: ${row.job_explanation}`);
      return row;
    }, timeoutMs);
  }

  /**
   * Waits until jobs have ended.
   * @returns number of jobs by status
   */
  async over(ids: readonly number[], timeoutMs = START_MS): Promise<Record<string, number>> {
    return eventually(async () => {
      const rows = await this.rows<{ status: string; count: number }>(
        `SELECT status, count(*)::int AS count FROM unified_jobs WHERE id = ANY($1) GROUP BY status`,
        [ids],
      );
      const counts = Object.fromEntries(rows.map(({ status, count }) => [status, count]));
      const open = rows.filter(({ status }) => !FINAL.includes(status));
      if (open.length > 0) throw new Error(`not over: ${JSON.stringify(counts)}`);
      return counts;
    }, timeoutMs);
  }

  async rows<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> {
    return this.database.rows<Row>(text, values);
  }

  /** Returns how often the playbook of each job ran, as recorded by the playbooks themselves. */
  async ledger(): Promise<Map<number, number>> {
    const text = await readFile(join(this.folder, 'ledger'), 'utf8').catch(() => '');
    const runs = new Map<number, number>();
    for (const line of text.split('\n').filter((one) => one !== '')) {
      runs.set(Number(line), (runs.get(Number(line)) ?? 0) + 1);
    }
    return runs;
  }

  environment(): Environment {
    return {
      PATH: this.path,
      HOME: (this.options.uid === undefined && process.env.HOME) || this.folder,
      DATABASE_URL: this.database.url,
      REDIS_URL: `redis://127.0.0.1:${this.redisPort}/0`,
      SECRET_KEY: 'a key for tests, of no value anywhere else',
      DATA_DIR: join(this.folder, 'data'),
      JOB_SHOW_PATHS: [`${join(this.folder, 'ledger')}:rw`, join(this.folder, 'bin')].join(),
      JOB_CONCURRENCY: String(this.options.concurrency ?? 2),
      DEMO_DATA: '0',
      LOG_LEVEL: 'warn',
    };
  }

  /** Creates project 1, template 2 (runs may overlap), template 3 (they may not) and inventory 1. */
  private async fill(): Promise<void> {
    const files = join(this.folder, 'data', 'projects', 'demo');
    await mkdir(files, { recursive: true });
    const playbooks = this.options.playbooks ?? { 'site.yml': noting(join(this.folder, 'ledger')) };
    for (const [name, text] of Object.entries(playbooks)) await writeFile(join(files, name), text);
    const { uid } = this.options;
    if (uid !== undefined)
      execFileSync('chown', ['-R', `${uid}:${uid}`, join(this.folder, 'data')]);
    await this.database.rows(`
      DELETE FROM schedules;
      DELETE FROM unified_job_templates;
      INSERT INTO organizations (id, name) VALUES (1, 'Operations');
      INSERT INTO inventories (id, name, organization_id, variables)
        VALUES (1, 'Local', 1, E'ansible_connection: local\\nansible_pipelining: true');
      INSERT INTO hosts (name, inventory_id, variables)
        VALUES ('localhost', 1, 'ansible_python_interpreter: "{{ ansible_playbook_python }}"');
      INSERT INTO unified_job_templates (id, type, name, organization_id, local_path)
        VALUES (1, 'project', 'Demo', 1, 'demo');
      INSERT INTO unified_job_templates
        (id, type, name, organization_id, project_id, inventory_id, playbook, allow_simultaneous)
        VALUES (2, 'job_template', 'Overlapping', 1, 1, 1, 'site.yml', true),
          (3, 'job_template', 'One at a time', 1, 1, 1, 'site.yml', false);`);
    for (const table of ['organizations', 'inventories', 'unified_job_templates']) {
      await this.database.rows(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), 100)`);
    }
  }
}

/** Returns a playbook that writes the id of its job to a file, which reveals double runs. */
export function noting(ledger: string, seconds = 0): string {
  const pause = seconds > 0 ? `\n    - command: sleep ${seconds}` : '';
  return `- hosts: all
  gather_facts: false
  tasks:
    - shell: echo {{ svc_job_id }} >> '${ledger}'${pause}
`;
}

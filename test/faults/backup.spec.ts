/**
 * Runs the commands of docs/backup.md, and loses the machine between backup and restore.
 *
 * Only in the deep slice `backup`: dumps need the system's PostgreSQL.
 * Budget: 240 s, because npm start sets up a machine twice, with Ansible.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Row } from '../../src/common/resource/define-resource.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { HAS_SYSTEM_POSTGRES } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { ApiCalls } from './support/api-calls.js';
import { Cluster } from './support/cluster.js';
import { freePort, type Environment } from './support/processes.js';
import { SystemPostgres } from './support/system-postgres.js';

const execute = promisify(execFile);
const MINUTE_MS = 60_000;
const describeBackup = HAS_SYSTEM_POSTGRES ? describe : describe.skip;

/** Returns the commands of a section of the page, by block. */
async function blocksOf(section: string): Promise<string[]> {
  const page = await readFile(join(PACKAGE_FOLDER, 'docs', 'backup.md'), 'utf8');
  const text = page.split('\n## ').find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/**
 * Runs commands with SHLVL of a nested shell: a shell at level 1 with a socket as its input would read the
 * login files.
 */
const shell = (commands: string, cwd: string, env: Environment) =>
  execute('bash', ['-euo', 'pipefail', '-c', commands], { cwd, env: { ...env, SHLVL: '1' } });

describeBackup('a backup of an external PostgreSQL server', () => {
  let folder: string;
  let server: SystemPostgres;
  let cluster: Cluster;
  let sink: HttpSink;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backup-'));
    for (const name of ['package.json', 'scripts'])
      await symlink(join(PACKAGE_FOLDER, name), join(folder, name));
    server = await SystemPostgres.start();
    cluster = await Cluster.start({ server, fakeSeconds: 30 });
    sink = await HttpSink.start();
  });
  afterAll(async () => {
    await sink.close();
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Returns the number of rows of every table. */
  const counts = () =>
    cluster.rows(`SELECT relname, xpath('/row/n/text()', query_to_xml(
        format('SELECT count(*) AS n FROM %I', relname), false, true, ''))::text AS rows
      FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1`);

  it('restores objects, secrets, tokens and scheduled work', async () => {
    const [dump = '', restore = ''] = await blocksOf('With a PostgreSQL of your own');
    const own = { PORT: String(await freePort()), OUTBOUND_ALLOW: '127.0.0.0/8' };
    const api = await ApiCalls.start(cluster, own);
    await api.call('PATCH', 'job_templates/2/', { webhook_service: 'service_a' });
    const key = await api.call('GET', 'job_templates/2/webhook_key/');
    const channel = await api.call('POST', 'notification_templates/', {
      name: 'Hook',
      organization: 1,
      notification_type: 'webhook',
      notification_configuration: {
        url: sink.url,
        headers: {},
        username: 'ada',
        password: 'secret',
      },
    });
    await api.call('POST', 'job_templates/2/notification_templates_started/', { id: channel.id });
    let answer = (): void => undefined;
    sink.reply({ until: new Promise((resolve) => (answer = resolve)) });
    const { id } = await api.call('POST', 'job_templates/2/launch/');
    await cluster.worker(own);
    await cluster.becomes(Number(id), 'running');
    await eventually(() => expect(sink.requests).toHaveLength(1), MINUTE_MS);

    const before = await counts();
    await shell(dump, folder, cluster.environment());
    answer();
    const sent = `SELECT 1 FROM notifications WHERE status = 'successful'`;
    await eventually(async () => expect(await cluster.rows(sent)).toHaveLength(1), MINUTE_MS);

    const seen = sink.requests.length;
    await cluster.loseMachine();
    await server.replace(new URL(cluster.database.url).pathname.slice(1));
    await cluster.database.resume();
    const { stdout } = await shell(restore, folder, cluster.environment());
    expect(stdout).toMatch(/\nup to date\n(.*\n)*ok {6}SECRET_KEY: decrypts the stored secrets\n/);
    expect(await counts()).toEqual(before);
    const otherKey = { ...cluster.environment(), SECRET_KEY: 'another key, which opens nothing' };
    await expect(shell('npm run controller -- doctor', folder, otherKey)).rejects.toMatchObject({
      stdout: expect.stringContaining('the secrets of this database need another key'),
    });

    await cluster.api(own);
    expect(await api.call('GET', 'job_templates/2/webhook_key/')).toEqual(key);
    await cluster.worker(own);
    const run = await cluster.becomes(Number(id), 'failed', 3 * MINUTE_MS);
    expect(run.job_explanation).toContain('was not present in the job queue');
    await eventually(() => expect(sink.requests.length).toBeGreaterThan(seen), 3 * MINUTE_MS);
    expect(sink.last.headers).toMatchObject({
      'webhook-id': sink.requests[0]?.headers['webhook-id'],
      authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}`,
    });
  }, 600_000);
});

describeBackup('a backup of an installation by npm start', () => {
  let folder: string;
  let service: ChildProcess | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backup-'));
    // Or else the account of the database cannot reach the data folder.
    await chmod(folder, 0o711);
  });
  afterAll(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });

  const environment = { PATH: process.env.PATH ?? '', HOME: tmpdir(), PORT: '0' };

  /** Copies the repository with its build. */
  async function clone(name: string): Promise<string> {
    const at = join(folder, name);
    const { stdout } = await execute('git', ['ls-files', '-z'], { cwd: PACKAGE_FOLDER });
    await mkdir(at);
    for (const path of stdout.split('\0').filter(Boolean))
      await cp(join(PACKAGE_FOLDER, path), join(at, path));
    for (const built of ['node_modules', 'dist'])
      await symlink(join(PACKAGE_FOLDER, built), join(at, built));
    return at;
  }

  /** Starts a copy. @returns calls with the token of its first user */
  async function start(at: string): Promise<(path: string, init?: RequestInit) => Promise<Row>> {
    let output = '';
    service = spawn('npm', ['start'], { cwd: at, env: environment, detached: true });
    service.stdout?.on('data', (data: Buffer) => (output += data.toString()));
    service.stderr?.on('data', (data: Buffer) => (output += data.toString()));
    await eventually(() => expect(output).toContain('Ctrl-C'), 5 * MINUTE_MS);
    const token = (await readFile(join(at, 'var', 'admin_token'), 'utf8')).trim();
    const { url } = JSON.parse(await readFile(join(at, 'var', 'running.json'), 'utf8'));
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    return async (path, init) => {
      const response = await fetch(`${url}/api/v2/${path}`, { headers, ...init });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      return JSON.parse(text) as Row;
    };
  }

  async function stop(): Promise<void> {
    if (!service || service.exitCode !== null) return;
    const ended = once(service, 'exit');
    process.kill(-Number(service.pid), 'SIGINT');
    await ended;
  }

  it('is one archive, which continues in another folder', async () => {
    const [backup = '', restore = ''] = await blocksOf('With `npm start`');
    const [unpack = '', again] = restore.split(/(?=^npm start\n)/m);
    expect(again).toBe('npm start\n');
    const lost = await clone('lost');
    const call = await start(lost);
    const { results } = await call('job_templates/?name=Demo+Job+Template');
    const [template] = results as [Row];
    const hook = `job_templates/${template.id}/`;
    const body = JSON.stringify({ webhook_service: 'service_a' });
    await call(hook, { method: 'PATCH', body });
    const key = await call(`${hook}webhook_key/`);
    await stop();
    await shell(backup, lost, environment);
    await rename(join(lost, 'backup.tar.gz'), join(folder, 'backup.tar.gz'));
    await rm(lost, { recursive: true });

    const found = await clone('found');
    await rename(join(folder, 'backup.tar.gz'), join(found, 'backup.tar.gz'));
    await shell(unpack, found, environment);
    const callAgain = await start(found);
    expect(await callAgain(hook)).toMatchObject({ webhook_service: 'service_a' });
    expect(await callAgain(`${hook}webhook_key/`)).toEqual(key);
  }, 900_000);
});

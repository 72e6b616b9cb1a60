import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { eventually } from '../../support/eventually.js';
import type { DatabaseServer } from './cluster-database.js';
import { freePort } from './processes.js';

const VERSIONS = '/usr/lib/postgresql';

/** The newest PostgreSQL that Debian installed, under an account of its own where tests run as root. */
export class SystemPostgres implements DatabaseServer {
  private readonly folder = mkdtempSync(join(tmpdir(), 'system-postgres-'));
  private readonly data = join(this.folder, 'data');
  private server: ChildProcess | undefined;

  private constructor(private readonly port: number) {
    // The account of the server passes through.
    chmodSync(this.folder, 0o711);
  }

  static async start(): Promise<SystemPostgres> {
    const server = new SystemPostgres(await freePort());
    await server.resume();
    return server;
  }

  get databaseUrl(): string {
    return `postgresql://controller@127.0.0.1:${this.port}/postgres`;
  }

  async halt(): Promise<void> {
    if (!this.server) return;
    const ended = once(this.server, 'exit');
    this.server.kill('SIGQUIT');
    await ended;
    this.server = undefined;
  }

  async resume(): Promise<void> {
    if (this.server) return;
    if (!existsSync(this.data)) this.initialise();
    const args = ['-D', this.data, '-p', String(this.port), '-k', ''];
    this.server = spawn(program('postgres'), args, { ...account(), cwd: '/', stdio: 'ignore' });
    await eventually(() => this.query('SELECT 1'), 30_000);
  }

  /** Loses all databases with the server, and starts a new server at the same address. */
  async replace(database: string): Promise<void> {
    await this.halt();
    rmSync(this.data, { recursive: true });
    await this.resume();
    await this.query(`CREATE DATABASE ${database}`);
  }

  async stop(): Promise<void> {
    await this.halt();
    rmSync(this.folder, { recursive: true });
  }

  private initialise(): void {
    const { uid, gid } = account();
    mkdirSync(this.data, { mode: 0o700 });
    if (uid !== undefined && gid !== undefined) chownSync(this.data, uid, gid);
    const args = ['--username=controller', '--auth=trust', '--encoding=UTF8', '--locale=C'];
    const options = { ...account(), cwd: '/', stdio: 'ignore' as const };
    execFileSync(program('initdb'), ['-D', this.data, ...args, '--no-sync'], options);
  }

  private async query(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    await client.connect();
    await client.query(text);
    await client.end();
  }
}

/** PostgreSQL refuses to run as root. */
function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const numberOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']));
  return { uid: numberOf('-u'), gid: numberOf('-g') };
}

function program(name: string): string {
  const versions = readdirSync(VERSIONS).sort((one, other) => Number(other) - Number(one));
  return join(VERSIONS, String(versions[0]), 'bin', name);
}

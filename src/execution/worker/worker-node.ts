import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { availableParallelism, hostname, totalmem } from 'node:os';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { VERSION } from '../../config/version.js';
import { bootId, findProcess } from '../runner/process-table.js';
import { Boundary } from '../boundary/boundary.service.js';
import { RunFolders } from './run-folders.js';
import { NODE_LOST_SECONDS } from '../../instances/worker-node-table.js';
import { messageOf } from '../../common/errors/message-of.js';

const HEARTBEAT_MS = 5000;

interface NodeRow {
  name: string;
  pid: number;
  start_time: string;
}

/** This worker process among the others: its name, its heartbeat. */
@Injectable()
export class WorkerNode implements OnApplicationBootstrap, OnModuleDestroy {
  readonly hostname = hostname();
  private readonly logger = new Logger('Worker');
  private identity: Promise<{ name: string; hostKey: string; startTime: string }> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly folders: RunFolders,
    private readonly boundary: Boundary,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.beat();
  }

  /** Leaves the list, so that the scheduler stops counting on this worker at once. */
  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    const name = await this.name();
    await this.forget([name]).catch(() => undefined);
  }

  /** The name leases are held under. */
  async name(): Promise<string> {
    return (await this.identify()).name;
  }

  /** What `name` of a worker on this host starts with. */
  async hostPrefix(): Promise<string> {
    return `${this.hostname}/${(await this.identify()).hostKey}/`;
  }

  /** Workers of this host whose process has ended without saying so. */
  async deadOnThisHost(): Promise<string[]> {
    const { hostKey } = await this.identify();
    const rows = await this.database.rows<NodeRow>(sql`
      SELECT name, pid, start_time FROM worker_nodes WHERE host_key = ${hostKey}`);
    const dead: string[] = [];
    for (const { name, pid, start_time: startTime } of rows) {
      const found = await findProcess(pid);
      if (found?.startTime !== startTime || found.state === 'Z') dead.push(name);
    }
    return dead;
  }

  /** Takes workers off the list, and with them all that were not heard of for long. */
  async forget(names: readonly string[]): Promise<void> {
    await this.database.execute(sql`
      DELETE FROM worker_nodes WHERE name = ANY(${names}::text[])
        OR last_seen < now() - make_interval(secs => ${NODE_LOST_SECONDS * 10})`);
  }

  private async beat(): Promise<void> {
    try {
      const { name, hostKey, startTime } = await this.identify();
      const { mode, detail } = await this.boundary.isolation();
      const refusal = await this.boundary.refusal();
      const capacity = refusal === null ? this.settings.JOB_CONCURRENCY : 0;
      await this.database.execute(sql`
        INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity)
        VALUES (${name}, ${this.hostname}, ${hostKey}, ${process.pid}, ${startTime},
          ${capacity})
        ON CONFLICT (name) DO UPDATE SET last_seen = now(), capacity = EXCLUDED.capacity`);
      await this.database.execute(sql`
        INSERT INTO instances (hostname, version, cpu, memory, isolation, isolation_detail)
        VALUES (${this.hostname}, ${VERSION}, ${availableParallelism()}, ${totalmem()}, ${mode},
          ${refusal ?? detail})
        ON CONFLICT (hostname) DO UPDATE SET last_seen = now(), version = EXCLUDED.version,
          cpu = EXCLUDED.cpu, memory = EXCLUDED.memory, isolation = EXCLUDED.isolation,
          isolation_detail = EXCLUDED.isolation_detail`);
    } catch (error) {
      const reason = messageOf(error);
      this.logger.warn({ message: 'heartbeat failed', reason });
    }
    if (!this.stopping) this.timer = setTimeout(() => void this.beat(), HEARTBEAT_MS).unref();
  }

  private identify(): NonNullable<typeof this.identity> {
    this.identity ??= this.findIdentity();
    return this.identity;
  }

  private async findIdentity(): Promise<{ name: string; hostKey: string; startTime: string }> {
    const parts = [this.hostname, await bootId(), pidNamespace(), this.folders.workspaces];
    const hostKey = createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 12);
    const startTime = (await findProcess(process.pid))?.startTime ?? '';
    const unique = `${process.pid}-${randomBytes(4).toString('hex')}`;
    return { name: `${this.hostname}/${hostKey}/${unique}`, hostKey, startTime };
  }
}

/** Containers on one machine number their processes each for itself. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

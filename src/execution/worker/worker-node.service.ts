import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { forkCapacities, instanceName } from '../../config/job-settings.js';
import { Settings } from '../../config/settings.js';
import { VERSION } from '../../config/version.js';
import { bootId, findProcess, isAlive } from '../runner/process-table.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { InstancesRepository } from '../../instances/instances.repository.js';
import { WorkerNodesRepository } from '../../instances/worker-nodes.repository.js';
import { messageOf, resultOr } from '../../common/errors/errors.js';

const HEARTBEAT_MS = 5000;

/** The identity and heartbeat of this worker process. */
@Injectable()
export class WorkerNode implements OnApplicationBootstrap, OnModuleDestroy {
  readonly hostname: string;
  /** Folder with the private folders of this host's runs, one per attempt. */
  readonly workspaces: string;
  private readonly logger = new Logger('Worker');
  private identity: Promise<{ name: string; hostKey: string; startTime: string }> | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Time of the last request for a health check that was performed; undefined before the first heartbeat. */
  private checked: string | null | undefined;
  private isChecking = false;
  private stopping = false;

  constructor(
    private readonly nodes: WorkerNodesRepository,
    private readonly instances: InstancesRepository,
    private readonly settings: Settings,
    private readonly sandbox: SandboxService,
  ) {
    this.hostname = instanceName(settings);
    this.workspaces = resolve(settings.DATA_DIR, 'workspaces');
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.beat();
  }

  /**
   * Deletes this worker's row, so that the scheduler immediately stops placing runs on this worker, and the
   * row of an ephemeral machine.
   */
  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    const name = await this.name();
    try {
      await this.nodes.removeLost([name]);
      await this.instances.removeEphemeral(this.hostname);
    } catch (error) {
      this.logger.warn({ message: 'worker not removed', reason: messageOf(error) });
    }
  }

  /** Returns the name under which this worker holds leases. */
  async name(): Promise<string> {
    return (await this.identify()).name;
  }

  /** Returns the common prefix of the names of all workers on this host. */
  async hostPrefix(): Promise<string> {
    return `${this.hostname}/${(await this.identify()).hostKey}/`;
  }

  /** Returns the workers of this host whose process has ended without deleting its row. */
  async deadOnThisHost(): Promise<string[]> {
    const { hostKey } = await this.identify();
    const dead: string[] = [];
    for (const { name, pid, start_time: startTime } of await this.nodes.ofHost(hostKey)) {
      if (!(await isAlive({ pid, startTime }))) dead.push(name);
    }
    return dead;
  }

  /**
   * Probes again which runs this worker can execute, and stores the results. Meanwhile, heartbeats continue
   * with the previous results.
   */
  async probe(): Promise<void> {
    await this.sandbox.probe();
    await this.report(true);
  }

  private async beat(): Promise<void> {
    try {
      const requested = await this.report(this.checked === undefined);
      if (this.checked === undefined) this.checked = requested;
      else if (requested !== this.checked && !this.isChecking) void this.check(requested);
    } catch (error) {
      this.logger.warn({ message: 'heartbeat failed', reason: messageOf(error) });
    }
    if (!this.stopping) this.timer = setTimeout(() => void this.beat(), HEARTBEAT_MS).unref();
  }

  /** Performs a health check. If the check fails, the next heartbeat starts a new check. */
  private async check(requested: string | null): Promise<void> {
    this.isChecking = true;
    try {
      await this.probe();
      this.checked = requested;
    } catch (error) {
      this.logger.warn({ message: 'health check failed', reason: messageOf(error) });
    } finally {
      this.isChecking = false;
    }
  }

  /**
   * @param isProbed true if this worker has just been probed
   * @returns the time of the last request for a health check
   */
  private async report(isProbed: boolean): Promise<string | null> {
    const { name, hostKey, startTime } = await this.identify();
    const { mode, detail } = await this.sandbox.isolation();
    const programs = isProbed ? await this.sandbox.programs() : null;
    const refusal = await this.sandbox.refusal();
    // In a container, its limit of memory; 0 or more than the memory of the machine if there is none.
    const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
    const size = { cpu: availableParallelism(), memory };
    const requested = await this.instances.storeHeartbeat(
      {
        hostname: this.hostname,
        version: VERSION,
        ...size,
        ...forkCapacities(this.settings, size),
        isolation: mode,
        isolation_detail: refusal ?? detail,
        is_ephemeral: this.settings.INSTANCE_EPHEMERAL,
      },
      programs,
    );
    // Last, because the scheduler places runs on instances with live workers.
    await this.nodes.storeHeartbeat({
      name,
      hostname: this.hostname,
      host_key: hostKey,
      pid: process.pid,
      start_time: startTime,
      capacity: refusal === null ? this.settings.JOB_CONCURRENCY : 0,
    });
    return requested;
  }

  private identify(): NonNullable<typeof this.identity> {
    this.identity ??= this.findIdentity();
    return this.identity;
  }

  private async findIdentity(): Promise<{ name: string; hostKey: string; startTime: string }> {
    const parts = [this.hostname, await bootId(), pidNamespace(), this.workspaces];
    const hostKey = createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 12);
    const startTime = (await findProcess(process.pid))?.startTime ?? '';
    const unique = `${process.pid}-${randomBytes(4).toString('hex')}`;
    return { name: `${this.hostname}/${hostKey}/${unique}`, hostKey, startTime };
  }
}

/**
 * Returns the process namespace: containers on one machine number their processes independently.
 */
const pidNamespace = (): string => resultOr(() => readlinkSync('/proc/self/ns/pid'), '');

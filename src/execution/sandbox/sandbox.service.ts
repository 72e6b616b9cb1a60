import { mkdir } from 'node:fs/promises';
import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/errors/errors.js';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import type { Programs } from '../../instances/instances.repository.js';
import { anyEnvironment } from '../../execution-environments/execution-environments.repository.js';
import { severalOrganizations } from '../../organizations/organizations.repository.js';
import {
  directLaunch,
  type Command,
  type SandboxSpec,
  type Sandbox,
  type Launch,
} from './command.js';
import { programVersion, serviceVersion, sweepContainers } from './container-engine.js';
import { containersOf, isPodman, localOwner, type FoundContainer } from './container-isolation.js';
import { withAdvice, findIsolation, realDataDir, refusalOf, type Isolation } from './isolation.js';
import { launchInside } from './launch-inside.js';

/**
 * Path of the private folder inside the sandbox: short enough for the sockets of ssh, and the path
 * that clients expect.
 */
const INNER_DIR = '/runner';

/**
 * Isolates runs from this installation. Starts every program that works on the content of a project
 * (docs/security.md).
 */
@Injectable()
export class SandboxService implements Sandbox {
  private readonly logger = new Logger('Sandbox');
  private cached: Promise<Isolation> | undefined;
  /** Results of trials, by id of the image. */
  private readonly images = new Map<string, Promise<FoundContainer | string>>();

  constructor(
    private readonly settings: Settings,
    private readonly database: Database,
  ) {}

  /** Returns the isolation that works on this machine. The first call tries the kinds of isolation. */
  isolation(): Promise<Isolation> {
    this.cached ??= this.find().catch((error: unknown) => {
      this.cached = undefined;
      throw error;
    });
    return this.cached;
  }

  /** Returns the reason why this worker must not take runs; null if it can take runs. */
  async refusal(): Promise<string | null> {
    return this.refusalWith(await this.isolation());
  }

  /**
   * Returns the path of the private folder as a run sees it; undefined if the path is the same as
   * outside.
   *
   * @param runIsolation isolation of the run; null: the isolation of this worker
   */
  async innerDir(runIsolation: Isolation | null = null): Promise<string | undefined> {
    return (runIsolation ?? (await this.isolation())).mode === 'none' ? undefined : INNER_DIR;
  }

  /** @param runIsolation isolation of the run; null: the isolation of this worker */
  async wrap(
    command: Command,
    spec: SandboxSpec,
    runIsolation: Isolation | null = null,
  ): Promise<Launch> {
    const isolation = runIsolation ?? (await this.isolation());
    if (isolation.mode === 'none') return directLaunch(command);
    return launchInside(isolation.plan, command, spec, this.settings);
  }

  /** Determines the isolation again. The previous result is used until the new one is known. */
  async probe(): Promise<void> {
    this.cached = Promise.resolve(await this.find());
    this.images.clear();
  }

  /** Returns the versions of this worker's programs; empty for a program that does not work. */
  async programs(): Promise<Programs> {
    const [engine, ansible, runner] = await Promise.all(
      [
        this.engine().then(({ version }) => version),
        programVersion('ansible-playbook'),
        programVersion('ansible-runner'),
      ].map((version) => version.catch(() => '')),
    );
    return {
      container_engine: engine ?? '',
      ansible_version: /\[core (\S+)\]/.exec(ansible ?? '')?.[1] ?? '',
      ansible_runner_version: runner ?? '',
    };
  }

  /**
   * Returns the container engine of this worker.
   *
   * @throws Error if the engine is missing or does not work
   */
  async engine(): Promise<{ engine: string; isPodman: boolean; version: string }> {
    const engine = this.settings.JOB_CONTAINER_ENGINE;
    try {
      const version = await programVersion(engine);
      // The Docker client requires its service.
      if (!isPodman(version)) await serviceVersion(engine);
      return { engine, isPodman: isPodman(version), version };
    } catch (error) {
      throw new Error(withAdvice(messageOf(error)), { cause: error });
    }
  }

  /**
   * Returns a configuration for containers of a local image, determined by one trial for each image,
   * or the reason why they do not work.
   *
   * @param name name of the image for messages
   */
  async containersOf(id: string, name: string): Promise<FoundContainer | string> {
    const found = this.images.get(id) ?? this.tryContainers(id, name);
    this.images.set(id, found);
    try {
      const result = await found;
      if (typeof result === 'string') this.images.delete(id);
      return result;
    } catch (error) {
      this.images.delete(id);
      throw error;
    }
  }

  private async tryContainers(id: string, name: string): Promise<FoundContainer | string> {
    const { settings } = this;
    const version = await programVersion(settings.JOB_CONTAINER_ENGINE);
    const dataDir = await realDataDir(settings);
    const found = await containersOf(id, name, { version, settings, dataDir });
    return typeof found === 'string' ? withAdvice(found) : found;
  }

  /**
   * Stops and removes the sandboxes of dead workers. Only containers can remain: the kernel ends every
   * other sandbox together with its worker.
   *
   * @returns number of removed containers
   */
  async sweep(): Promise<number> {
    const isolation = await this.isolation();
    if (isolation.mode === 'container') return sweepContainers(isolation.plan);
    if (!(await this.database.exists(anyEnvironment()))) return 0;
    const engine = this.settings.JOB_CONTAINER_ENGINE;
    const owner = await localOwner(await realDataDir(this.settings));
    // Without an engine there are no containers.
    return sweepContainers({ engine, owner }).catch(() => 0);
  }

  private async find(): Promise<Isolation> {
    await mkdir(this.settings.DATA_DIR, { recursive: true });
    const isolation = await findIsolation(this.settings);
    const { mode, detail } = isolation;
    const refusal = await this.refusalWith(isolation);
    if (refusal !== null) this.logger.error({ message: 'no runs are taken', refusal });
    else if (mode === 'none') this.logger.warn({ message: 'runs are not isolated', detail });
    else this.logger.log({ message: 'runs are isolated', by: detail });
    return isolation;
  }

  private refusalWith(isolation: Isolation): Promise<string | null> {
    return refusalOf(isolation, this.settings.JOB_ISOLATION, () => this.hasSeveralOrganizations());
  }

  private async hasSeveralOrganizations(): Promise<boolean> {
    return this.database.exists(severalOrganizations());
  }
}

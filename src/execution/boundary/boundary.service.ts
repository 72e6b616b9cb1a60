import { mkdir } from 'node:fs/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { severalOrganizations } from '../../organizations/organizations.repository.js';
import { openLaunch, type Command, type Enclosure, type Fence, type Launch } from './command.js';
import { sweepContainers } from './container-engine.js';
import { findIsolation, refusalOf, type Isolation } from './isolation.js';
import { launchInside } from './launch-inside.js';

/**
 * Path of the private folder inside the sandbox: short enough for the sockets of ssh, and the path
 * that clients expect.
 */
const RUN_PLACE = '/runner';

/**
 * The sandbox between this installation and its runs. Every program that works on the content of a
 * project is started through this service (docs/security.md).
 */
@Injectable()
export class Boundary implements Fence {
  private readonly logger = new Logger('Boundary');
  private found: Promise<Isolation> | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly database: Database,
  ) {}

  /** Returns the isolation that works on this machine, determined by trial on the first call. */
  isolation(): Promise<Isolation> {
    this.found ??= this.find().catch((error: unknown) => {
      this.found = undefined;
      throw error;
    });
    return this.found;
  }

  /** Returns the reason why this worker must not take runs; null if it can take runs. */
  async refusal(): Promise<string | null> {
    return this.refusalWith(await this.isolation());
  }

  /**
   * Returns the path of the private folder as a run sees it; undefined if the path is the same as
   * outside.
   */
  async place(): Promise<string | undefined> {
    return (await this.isolation()).mode === 'none' ? undefined : RUN_PLACE;
  }

  async wrap(command: Command, enclosure: Enclosure): Promise<Launch> {
    const isolation = await this.isolation();
    if (isolation.mode === 'none') return openLaunch(command);
    return launchInside(isolation.plan, command, enclosure, this.settings);
  }

  /**
   * Stops and removes the sandboxes that dead workers left behind. Only containers can remain: the
   * kernel ends every other sandbox together with its worker.
   *
   * @returns number of removed containers
   */
  async sweep(): Promise<number> {
    const isolation = await this.isolation();
    return isolation.mode === 'container' ? sweepContainers(isolation.plan) : 0;
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
    return refusalOf(isolation, this.settings.JOB_ISOLATION, () => this.servesSeveral());
  }

  private async servesSeveral(): Promise<boolean> {
    return (await this.database.row(severalOrganizations())) !== undefined;
  }
}

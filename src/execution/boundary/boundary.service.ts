import { mkdir } from 'node:fs/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { severalOrganizations } from '../../organizations/organizations.repository.js';
import { openLaunch, type Command, type Enclosure, type Fence, type Launch } from './command.js';
import { sweepContainers } from './container-engine.js';
import { findIsolation, refusalOf, type Isolation } from './isolation.js';
import { launchInside } from './launch-inside.js';

/** Short enough for the sockets of ssh, and where clients expect it. */
const RUN_PLACE = '/runner';

/**
 * The boundary between this installation and what runs in its name: every program that works on the
 * content of a project is started through it (docs/security.md).
 */
@Injectable()
export class Boundary implements Fence {
  private readonly logger = new Logger('Boundary');
  private found: Promise<Isolation> | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly database: Database,
  ) {}

  /** What keeps runs apart here, found out once by trying it. */
  isolation(): Promise<Isolation> {
    this.found ??= this.find().catch((error: unknown) => {
      this.found = undefined;
      throw error;
    });
    return this.found;
  }

  /** Why this worker must take no runs; null when it may. */
  async refusal(): Promise<string | null> {
    return this.refusalWith(await this.isolation());
  }

  /** Where a run sees its private folder; undefined: where it is. */
  async place(): Promise<string | undefined> {
    return (await this.isolation()).mode === 'none' ? undefined : RUN_PLACE;
  }

  async wrap(command: Command, enclosure: Enclosure): Promise<Launch> {
    const isolation = await this.isolation();
    if (isolation.mode === 'none') return openLaunch(command);
    return launchInside(isolation.plan, command, enclosure, this.settings);
  }

  /**
   * Ends and removes what workers that are gone have left of their boundaries: only containers, as the
   * kernel ends everything else with its worker.
   *
   * @returns how many
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

import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { constantTimeEqual } from '../common/crypto/constant-time.js';
import { BadRequest, Forbidden, Invalid, Unavailable } from '../common/errors/errors.js';
import { parseVariables } from '../common/fields/variables.js';
import { itemAt } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { InventorySourcesRepository } from '../inventory-sources/inventory-sources.repository.js';
import { InventoryUpdateLauncher } from '../inventory-sources/inventory-update-launcher.service.js';
import { isHostPattern, limitTo } from '../inventories/host-name.js';
import { LaunchLoader, type LaunchTemplate } from '../launching/launch.loader.js';
import { JobLauncher } from '../launching/job-launcher.service.js';
import type { LaunchRequest } from '../launching/template-launcher.js';
import type { LaunchedRun } from '../runs/launcher.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { CallingHosts } from './calling-hosts.service.js';

/** Maximum time that a request waits for updates of sources, and polling interval, in ms. */
const MAX_WAIT_MS = 120_000;
const POLL_MS = 1000;

/** Provisioning callback: a machine requests a job on itself. */
export interface CallbackRequest {
  templateId: number;
  key: string;
  address: string;
  /** Variables as text; empty for none. */
  extraVars: string;
}

const NO_HOST = 'No matching host could be found!';
const NOT_STARTED = 'Error starting job!';
const USER_INPUT = ['passwords_needed_to_start', 'variables_needed_to_start'];

/** Launches jobs for provisioning callbacks (docs/contract/launching.md#provisioning-callbacks). */
@Injectable()
export class Callbacks implements OnModuleDestroy {
  private isShuttingDown = false;

  constructor(
    private readonly database: Database,
    private readonly loader: LaunchLoader,
    private readonly launches: JobLauncher,
    private readonly hosts: CallingHosts,
    private readonly sources: InventorySourcesRepository,
    private readonly updates: InventoryUpdateLauncher,
    private readonly runs: RunsRepository,
  ) {}

  onModuleDestroy(): void {
    this.isShuttingDown = true;
  }

  /**
   * @throws Forbidden for a missing template or a wrong key; BadRequest; Unavailable if the process
   *   shuts down during the request
   */
  async launch({ templateId, key, address, extraVars }: CallbackRequest): Promise<LaunchedRun> {
    const template = await this.template(templateId, key);
    const limit = limitTo([await this.matchingHost(template, address)]);
    const asksVariables = template.row.ask_variables_on_launch || template.survey !== null;
    const variables = asksVariables && extraVars !== '' ? parseVariables(extraVars) : undefined;
    try {
      return await this.database.transaction(async () => {
        await this.runs.lockTemplate(templateId);
        // The template can have changed during the wait for updates.
        const { inventory } = await this.template(templateId, key);
        if (inventory?.id !== template.inventory?.id) throw new BadRequest(NO_HOST);
        if (await this.runs.isLimitedTo(templateId, limit)) {
          throw new BadRequest('Host callback job already pending.');
        }
        const request: LaunchRequest = {
          templateId,
          launchType: 'callback',
          createdBy: null,
          prompts: { limit, ...(variables ? { extra_vars: variables } : {}) },
          // A job on one host is not sliced.
          slice: { number: 0, count: 1 },
          forcedFields: ['limit'] as const,
        };
        return itemAt(await this.launches.launch([request], null), 0);
      });
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      const needsUserInput = USER_INPUT.some((field) => Object.hasOwn(error.errors, field));
      throw new BadRequest(
        needsUserInput ? 'Cannot start automatically, user input required!' : NOT_STARTED,
      );
    }
  }

  /** @throws Forbidden for a missing template or a wrong key */
  private async template(id: number, key: string): Promise<LaunchTemplate> {
    const template = (await this.loader.load({ templates: [id] }, null)).templates.get(id);
    const storedKey = template?.row.host_config_key ?? '';
    if (!template || storedKey === '' || !constantTimeEqual(storedKey, key)) throw new Forbidden();
    return template;
  }

  /**
   * Returns the host that sent the request. If not exactly one host matches, updates the sources of
   * the inventory and searches again.
   */
  private async matchingHost({ inventory }: LaunchTemplate, address: string): Promise<string> {
    if (!inventory) {
      throw new BadRequest('Cannot start automatically, an inventory is required.');
    }
    let found = await this.hosts.find(inventory.id, address);
    if (found.length !== 1 && (await this.updateSources(inventory.id))) {
      found = await this.hosts.find(inventory.id, address);
    }
    const [host] = found;
    if (host === undefined) throw new BadRequest(NO_HOST);
    if (found.length > 1) throw new BadRequest('Multiple hosts matched the request!');
    if (isHostPattern(host)) throw new BadRequest(NOT_STARTED);
    return host;
  }

  /**
   * Updates the sources that a job would update, and waits for the updates.
   *
   * @returns true if there were updates
   */
  private async updateSources(inventoryId: number): Promise<boolean> {
    const ids = await this.database.transaction(async () => {
      const due = await this.sources.due([inventoryId]);
      const missing = due.filter(({ active_update_id: active }) => active === null);
      const launched = await this.updates.launchPossible(
        missing.map(({ source_id: templateId }) => ({
          templateId,
          launchType: 'callback',
          createdBy: null,
        })),
      );
      return [
        ...launched.flatMap(({ run }) => run?.id ?? []),
        ...due.flatMap(({ active_update_id: id }) => id ?? []),
      ];
    });
    const until = Date.now() + MAX_WAIT_MS;
    while (Date.now() < until && (await this.runs.hasActiveAmong(ids))) {
      if (this.isShuttingDown) throw new Unavailable();
      await sleep(POLL_MS);
    }
    return ids.length > 0;
  }
}

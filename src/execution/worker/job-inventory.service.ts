import { Injectable } from '@nestjs/common';
import {
  buildInventory,
  selectHosts,
  type AnsibleInventory,
  type HostRow,
} from '../../inventories/ansible-inventory.js';
import { HostsRepository } from '../../inventories/hosts.repository.js';
import { InventoryRows } from '../../inventories/inventory-rows.service.js';
import type { JobContext } from '../../runs/job-contexts.repository.js';
import { NO_INVENTORY } from '../../runs/run-explanations.js';
import { CannotStart } from './outcome.js';

/** The data of a run, with a flag for an inventory without its hosts. */
export type PlaybookContext = JobContext & { isWithoutHosts?: true };

/** The inventory of a run in Ansible's format, and its hosts. */
export interface RunInventory {
  document: AnsibleInventory;
  hosts: HostRow[];
  /**
   * For a constructed inventory, the original host of each host, by id; null for other inventories.
   */
  originals: ReadonlyMap<number, number | null> | null;
}

/**
 * Loads the inventory of a job, or the job's slice of it
 * (docs/contract/runs.md#inventory-of-a-run).
 */
@Injectable()
export class JobInventory {
  constructor(
    private readonly inventories: InventoryRows,
    private readonly hosts: HostsRepository,
  ) {}

  /** @throws CannotStart if the inventory was deleted */
  async load(job: PlaybookContext): Promise<RunInventory> {
    const { inventory_id: id } = job;
    const rows = id === null ? null : await this.inventories.load(id);
    if (id === null || !rows) throw new CannotStart(NO_INVENTORY);
    const { job_slice_number: number, job_slice_count: count } = job;
    const options = {
      hostvars: true,
      towervars: true,
      withoutHosts: job.isWithoutHosts ?? false,
      ...(count > 1 && number > 0 ? { slice: { number, count } } : {}),
    };
    const document = await buildInventory(rows, options);
    const originals = await this.hosts.originalsIn(id);
    return {
      document,
      hosts: selectHosts(rows.hosts, options),
      originals: originals.size > 0 ? originals : null,
    };
  }
}

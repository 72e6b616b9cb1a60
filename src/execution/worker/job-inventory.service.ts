import { Injectable } from '@nestjs/common';
import {
  readInventory,
  selectHosts,
  type AnsibleInventory,
  type HostRow,
} from '../../inventories/ansible-inventory.js';
import { HostsRepository } from '../../inventories/hosts.repository.js';
import { InventoryRows } from '../../inventories/inventory-rows.service.js';
import type { JobContext } from '../../runs/job-contexts.repository.js';
import { NO_INVENTORY } from '../../runs/run-explanations.js';
import { CannotStart } from './outcome.js';

/** What a run is made of, and whether the hosts of its inventory are left out. */
export type PlaybookContext = JobContext & { isWithoutHosts?: true };

/** The inventory of a run, as Ansible is told of it, and the hosts in it. */
export interface InventoryOfRun {
  document: AnsibleInventory;
  hosts: HostRow[];
  /** Of a constructed inventory, the hosts these come from, by their ids; null of any other. */
  originals: ReadonlyMap<number, number | null> | null;
}

/** The inventory of a job, or the job's slice of it (docs/contract/runs.md#inventory-of-a-run). */
@Injectable()
export class JobInventory {
  constructor(
    private readonly inventories: InventoryRows,
    private readonly hosts: HostsRepository,
  ) {}

  /** @throws CannotStart where there is none any more */
  async load(job: PlaybookContext): Promise<InventoryOfRun> {
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
    const document = await readInventory(rows, options);
    const originals = await this.hosts.originalsIn(id);
    return {
      ...{ document, hosts: selectHosts(rows.hosts, options) },
      originals: originals.size > 0 ? originals : null,
    };
  }
}

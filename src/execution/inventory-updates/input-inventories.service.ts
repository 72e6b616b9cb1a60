import { Injectable } from '@nestjs/common';
import { readInventory, selectHosts } from '../../inventories/ansible-inventory.js';
import {
  InventoryInputsRepository,
  type InventoryInput,
} from '../../inventories/inventory-inputs.repository.js';
import { InventoryRows } from '../../inventories/inventory-rows.service.js';
import { writeInput } from '../runner/inventory-files.js';
import type { Workspace } from '../runner/workspace.js';
import { JobFacts } from '../worker/job-facts.service.js';
import { RunFailed } from '../worker/outcome.js';

/** As jobs get inventories: enabled hosts, each with the id it is found again by. */
const OPTIONS = { hostvars: true, towervars: true } as const;

/** What a constructed inventory is made of, as Ansible reads it (docs/contract/constructed-inventories.md#update). */
@Injectable()
export class InputInventories {
  constructor(
    private readonly inputs: InventoryInputsRepository,
    private readonly inventories: InventoryRows,
    private readonly facts: JobFacts,
  ) {}

  /**
   * Writes the inputs of an inventory, and what is known of their hosts.
   *
   * @returns paths as the run sees them, in the order of the inputs
   * @throws RunFailed naming an input that may not be used any more, VariablesError
   */
  async hand(inventoryId: number, workspace: Workspace): Promise<string[]> {
    const [unanswered] = await this.inputs.unanswered(inventoryId);
    if (unanswered) throw new RunFailed(notUsable(unanswered));
    const scripts: string[] = [];
    // Of a name in several inputs, the later host is the one that is meant.
    const hosts = new Map<string, number>();
    // One after the other: each may be large.
    for (const input of await this.inputs.of(inventoryId)) {
      const rows = await this.inventories.load(input.id);
      if (!rows) throw new RunFailed(`The input inventory "${input.name}" is being deleted.`);
      scripts.push(await writeInput(workspace, input.id, await readInventory(rows, OPTIONS)));
      for (const { name, id } of selectHosts(rows.hosts, OPTIONS)) hosts.set(name, id);
    }
    await this.facts.show(
      workspace,
      [...hosts].map(([name, id]) => ({ id, name })),
    );
    return scripts;
  }
}

const notUsable = ({ name }: InventoryInput): string =>
  `The input inventory "${name}" may not be used any more by whoever attached it: somebody who may use it has to attach it again.`;

import { Injectable } from '@nestjs/common';
import { buildInventory, selectHosts } from '../../inventories/ansible-inventory.js';
import {
  InventoryInputsRepository,
  type AttachedInput,
} from '../../inventories/inventory-inputs.repository.js';
import { InventoryRows } from '../../inventories/inventory-rows.service.js';
import { writeInput } from '../runner/inventory-files.js';
import type { Workspace } from '../runner/workspace.js';
import { JobFacts } from '../worker/job-facts.service.js';
import { RunFailed } from '../worker/outcome.js';

/**
 * Options of the inventory document, equal to those for jobs: enabled hosts only, each with the id
 * that identifies the host in the result.
 */
const OPTIONS = { hostvars: true, towervars: true } as const;

export interface ProvidedInputs {
  readonly scripts: readonly string[];
  readonly hosts: ReadonlyMap<string, number>;
}

/**
 * Provides the input inventories of a constructed inventory as Ansible sources
 * (docs/contract/constructed-inventories.md#update).
 */
@Injectable()
export class InputInventories {
  constructor(
    private readonly inputs: InventoryInputsRepository,
    private readonly inventories: InventoryRows,
    private readonly facts: JobFacts,
  ) {}

  /**
   * Writes the input inventories and the stored facts of their hosts.
   *
   * @returns paths as the run sees them, in the order of the inputs, and the ids of the hosts by name
   * @throws RunFailed that names an input that is being deleted or is no longer permitted, VariablesError
   */
  async provide(inventoryId: number, workspace: Workspace): Promise<ProvidedInputs> {
    const [unauthorized] = await this.inputs.unauthorized(inventoryId);
    if (unauthorized) throw new RunFailed(notUsable(unauthorized));
    const scripts: string[] = [];
    // If several inputs contain a host name, the last one provides the id and the facts.
    const hosts = new Map<string, number>();
    // Sequential, because each inventory can be large.
    for (const input of await this.inputs.of(inventoryId)) {
      const rows = await this.inventories.load(input.id);
      if (!rows) throw new RunFailed(`The input inventory "${input.name}" is being deleted.`);
      scripts.push(await writeInput(workspace, input.id, await buildInventory(rows, OPTIONS)));
      for (const { name, id } of selectHosts(rows.hosts, OPTIONS)) hosts.set(name, id);
    }
    await this.facts.provideForInventory(
      workspace,
      [...hosts].map(([name, id]) => ({ id, name })),
    );
    return { scripts, hosts };
  }
}

const notUsable = ({ name }: AttachedInput): string =>
  `The input inventory "${name}" may not be used by the user who attached it. A user with permission to use the inventory must attach it again.`;

import { Injectable } from '@nestjs/common';
import { failPoint } from '../../common/fail-point.js';
import { readAllVariables } from '../../common/fields/variables.js';
import { HostLimit } from '../host-limit.service.js';
import { HostsRepository } from '../hosts.repository.js';
import { InventoryLock } from '../inventory-lock.service.js';
import { cycleIn } from './cycles.js';
import { ImportError, type InventoryDelivery } from './delivery.js';
import {
  describeChanges,
  type ImportChanges,
  type ImportReport,
  type Texts,
} from './import-changes.js';
import {
  digestOf,
  planImport,
  storedVariables,
  type ImportOptions,
  type ImportPlan,
  type ObjectPlan,
} from './import-plan.js';
import {
  ImportedObjectsRepository,
  type ImportedKind,
  type ImportScope,
} from './imported-objects.repository.js';
import {
  ImportedMembersRepository,
  type InventoryVariables,
  type Pairs,
} from './imported-members.repository.js';
import type { KnownObject, PlannedObject } from './known-objects.js';
import { mergedText } from './variable-merge.js';

/** Context of an import besides its delivery. */
export interface ImportContext extends ImportReport {
  /** Called between steps; throws to end the import. */
  readonly checkpoint: () => void;
}

/** Error for an organization with too many hosts. */
export class HostLimitExceeded extends ImportError {}

/**
 * Imports a source's delivery into its inventory (docs/contract/inventory-sources.md#import), in
 * the caller's transaction, atomically, with a number of statements that is independent of the
 * delivery's size. Imports of one inventory run one after another.
 */
@Injectable()
export class InventoryImport {
  constructor(
    private readonly objects: ImportedObjectsRepository,
    private readonly members: ImportedMembersRepository,
    private readonly hosts: HostsRepository,
    private readonly lock: InventoryLock,
    private readonly limit: HostLimit,
  ) {}

  /**
   * @throws ImportError, HostLimitExceeded, and errors of `checkpoint`; BadRequest if the inventory is being
   *   deleted
   */
  async store(
    scope: ImportScope,
    delivery: InventoryDelivery,
    options: ImportOptions,
    context: ImportContext,
  ): Promise<ImportChanges> {
    // Locks the organization before the inventory, in the same order as all other code.
    const allowance = await this.limit.lockAllowance(scope.inventoryId);
    await this.lock.lock(scope.inventoryId, 'host');
    const plan = await planImport(
      delivery,
      {
        groups: await this.objects.knownGroups(scope),
        hosts: await this.objects.knownHosts(scope),
      },
      options,
    );
    context.checkpoint();
    const groupTexts = await this.changedTexts('groups', scope, plan.groups, options);
    const hostTexts = await this.changedTexts('hosts', scope, plan.hosts, options);
    context.checkpoint();
    const children = pairsOf(delivery, 'children');
    const hosts = pairsOf(delivery, 'hosts');
    await this.removeObjects(plan);
    await this.change(plan, groupTexts, hostTexts, options);
    failPoint('inventory-storing');
    context.checkpoint();
    if (options.overwrite) await this.prune(scope, plan, { hosts, children });
    await this.createObjects(scope, plan);
    context.checkpoint();
    await this.storeClaims('groups', scope, plan.groups, groupTexts);
    await this.storeClaims('hosts', scope, plan.hosts, hostTexts);
    context.checkpoint();
    await this.members.addHosts(scope, hosts);
    await this.members.addChildren(scope, children);
    await this.assertNoCycle(scope);
    const variables = await this.storeVariables(scope, delivery, options);
    if (options.isConstructed) await this.hosts.showLastJobsOfOriginals(scope.inventoryId);
    context.checkpoint();
    if (allowance && (await this.limit.isExceeded(allowance))) {
      throw new HostLimitExceeded('Host limit for organization exceeded!');
    }
    return describeChanges({ plan, groupTexts, hostTexts, variables }, context);
  }

  /** Returns the variables of matched objects that change, as texts. */
  private async changedTexts(
    kind: ImportedKind,
    scope: ImportScope,
    { matched }: ObjectPlan<KnownObject, PlannedObject>,
    { overwriteVars }: ImportOptions,
  ): Promise<Texts> {
    if (overwriteVars) {
      const changed = matched.filter(({ known, planned }) => known.digest !== planned.digest);
      return new Map(changed.map(({ known, planned }) => [known.id, planned.delivered]));
    }
    // An object needs no merge if the source delivers the same values as in the last import, and the
    // object has not changed since.
    const differing = matched.filter(
      ({ known, planned }) =>
        known.delivered_digest !== planned.digest || known.merged_digest !== known.digest,
    );
    const ids = differing.map(({ known }) => known.id);
    const stored = new Map(
      (await this.objects.stored(kind, scope, ids)).map((object) => [object.id, object]),
    );
    const read = await readAllVariables(
      [...stored.values()].flatMap(({ variables, delivered }) => [variables, delivered ?? '']),
    );
    const texts = new Map<number, string>();
    for (const { known, planned } of differing) {
      const object = stored.get(known.id);
      if (!object) continue;
      const label = `${kind === 'hosts' ? 'host' : 'group'} ${known.name}`;
      const text = mergedText(label, object, { now: planned.delivered, read });
      if (text !== object.variables) texts.set(known.id, text);
    }
    return texts;
  }

  /** Deletes the objects that sources created and no source delivers any longer. */
  private async removeObjects({ groups, hosts }: ImportPlan): Promise<void> {
    if (groups.removed.length > 0) {
      await this.members.lift(idsOf(groups.removed));
      await this.objects.removeAll('groups', idsOf(groups.removed));
    }
    if (hosts.removed.length > 0) await this.objects.removeAll('hosts', idsOf(hosts.removed));
  }

  /** Removes the memberships and releases the objects that the source no longer delivers. */
  private async prune(
    scope: ImportScope,
    { groups, hosts }: ImportPlan,
    delivered: { hosts: Pairs; children: Pairs },
  ): Promise<void> {
    await this.members.pruneHosts(scope, delivered.hosts);
    await this.members.pruneChildren(scope, delivered.children);
    if (groups.released.length > 0) {
      await this.objects.release('groups', scope, idsOf(groups.released));
    }
    if (hosts.released.length > 0) {
      await this.objects.release('hosts', scope, idsOf(hosts.released));
    }
  }

  private async change(
    { hosts, groups }: ImportPlan,
    groupTexts: Texts,
    hostTexts: Texts,
    { hasInstanceIds }: ImportOptions,
  ): Promise<void> {
    if (groupTexts.size > 0) {
      await this.objects.updateGroups(
        groups.matched.flatMap(({ known: { id } }) => {
          const variables = groupTexts.get(id);
          return variables === undefined ? [] : [{ id, variables }];
        }),
      );
    }
    const changes = hosts.matched.flatMap(({ known, planned }) => {
      const variables = hostTexts.get(known.id) ?? null;
      const instanceId =
        hasInstanceIds && planned.instanceId !== known.instance_id ? planned.instanceId : null;
      const isEnabled = planned.isEnabled === known.enabled ? null : planned.isEnabled;
      const isSame = [variables, instanceId, isEnabled].every((change) => change === null);
      if (isSame && planned.name === known.name) return [];
      return [{ id: known.id, name: planned.name, variables, instanceId, isEnabled }];
    });
    if (changes.length === 0) return;
    const renamed = hosts.matched.filter(({ known, planned }) => known.name !== planned.name);
    if (renamed.length > 0) await this.objects.freeNames(renamed.map(({ known }) => known.id));
    await this.objects.updateHosts(changes);
  }

  private async createObjects(scope: ImportScope, { groups, hosts }: ImportPlan): Promise<void> {
    if (groups.created.length > 0) await this.objects.createGroups(scope, groups.created);
    if (hosts.created.length > 0) await this.objects.createHosts(scope, hosts.created);
  }

  /** Stores the claims of the source. Writes only claims that differ from the stored claims. */
  private async storeClaims(
    kind: ImportedKind,
    scope: ImportScope,
    { created, matched }: ObjectPlan<KnownObject, PlannedObject>,
    texts: Texts,
  ): Promise<void> {
    const claims = matched.flatMap(({ known, planned }) => {
      const text = texts.get(known.id);
      const mergedDigest = text === undefined ? known.digest : digestOf(text);
      const isStored =
        known.delivered_digest === planned.digest && known.merged_digest === mergedDigest;
      return isStored ? [] : [{ ...planned, mergedDigest }];
    });
    const newClaims = created.map((planned) => ({ ...planned, mergedDigest: planned.digest }));
    const all = [...claims, ...newClaims];
    if (all.length > 0) await this.objects.claim(kind, scope, all);
  }

  private async assertNoCycle(scope: ImportScope): Promise<void> {
    const cycle = cycleIn(await this.members.edges(scope));
    if (cycle) throw new ImportError(`Groups contain each other in a cycle: ${cycle.join(' > ')}`);
  }

  /** @returns true if the variables changed */
  private async storeVariables(
    scope: ImportScope,
    { variables }: InventoryDelivery,
    { isConstructed = false }: ImportOptions,
  ): Promise<boolean> {
    const stored = await this.members.variables(scope);
    if (!stored) throw new ImportError('The inventory no longer exists.');
    const { delivered } = storedVariables('inventory', 'itself', variables);
    const text = isConstructed ? delivered : await this.merged(scope, stored, delivered);
    await this.members.storeVariables(scope, { variables: text, delivered });
    return text !== stored.variables;
  }

  private async merged(
    { inventoryId: id }: ImportScope,
    stored: InventoryVariables,
    delivered: string,
  ): Promise<string> {
    const read = await readAllVariables([stored.variables, stored.delivered ?? '', delivered]);
    return mergedText('inventory', { id, ...stored }, { now: delivered, read });
  }
}

const idsOf = (objects: readonly KnownObject[]): number[] => objects.map(({ id }) => id);

function pairsOf({ groups }: InventoryDelivery, kind: 'hosts' | 'children'): Pairs {
  const pairs: { groups: string[]; members: string[] } = { groups: [], members: [] };
  for (const group of groups.values()) {
    for (const member of group[kind]) {
      pairs.groups.push(group.name);
      pairs.members.push(member);
    }
  }
  return pairs;
}

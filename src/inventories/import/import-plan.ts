import { createHash } from 'node:crypto';
import { messageOf } from '../../common/errors/errors.js';
import { jsonText } from '../../common/fields/json-text.js';
import { isStorableJson, MAX_DEPTH } from '../../common/fields/text.js';
import { checkedObject } from '../../common/fields/yaml-reader.js';
import { Yielder } from '../../common/yielder.js';
import {
  ImportError,
  type DeliveredHost,
  type InventoryDelivery,
  type ImportedVariables,
} from './delivery.js';
import type { KnownHost, KnownObject, PlannedHost, PlannedObject } from './known-objects.js';

/** Maximum length of an object's variables in characters; variables that users enter have the same limit. */
const MAX_VARIABLES = 1_048_576;

export interface ImportOptions {
  /** True to remove objects that the source created and no longer delivers. */
  readonly overwrite: boolean;
  /** True to replace variables by those of the source. */
  readonly overwriteVars: boolean;
  /**
   * True for a constructed inventory: inventory variables that the inputs do not deliver are also removed.
   */
  readonly isConstructed?: boolean;
  /** True if hosts are matched by their ids in the source system. */
  readonly hasInstanceIds: boolean;
}

/** An existing object and the source's values for it. */
export interface Matched<Known, Planned> {
  readonly known: Known;
  readonly planned: Planned;
}

/** Planned changes of the objects of one kind. */
export interface ObjectPlan<Known, Planned> {
  readonly created: readonly Planned[];
  readonly matched: readonly Matched<Known, Planned>[];
  /** Objects that sources created and no source delivers any longer. */
  readonly removed: readonly Known[];
  /**
   * Objects that this source no longer delivers, and that also belong to users or other sources.
   */
  readonly released: readonly Known[];
}

/** Planned changes of an import, without the merging of variables. */
export interface ImportPlan {
  readonly groups: ObjectPlan<KnownObject, PlannedObject>;
  readonly hosts: ObjectPlan<KnownHost, PlannedHost>;
}

/**
 * Plans the changes of an inventory's hosts and groups for an import
 * (docs/contract/inventory-sources.md#hosts-and-groups). Independent of the database.
 *
 * @throws ImportError naming a host or group that cannot be stored
 */
export async function planImport(
  delivery: InventoryDelivery,
  known: { groups: readonly KnownObject[]; hosts: readonly KnownHost[] },
  options: ImportOptions,
): Promise<ImportPlan> {
  const yielder = new Yielder();
  const groups = await planGroups(delivery, known.groups, options, yielder);
  const hosts = await planHosts(delivery, known.hosts, options, yielder);
  assertNoSharedNames(
    resultingNames(groups, known.groups),
    resultingNames(hosts, known.hosts),
    delivery.groups,
  );
  return { groups, hosts };
}

async function planGroups(
  { groups }: InventoryDelivery,
  known: readonly KnownObject[],
  options: ImportOptions,
  yielder: Yielder,
): Promise<ObjectPlan<KnownObject, PlannedObject>> {
  const byName = new Map(known.map((object) => [object.name, object]));
  const created: PlannedObject[] = [];
  const matched: Matched<KnownObject, PlannedObject>[] = [];
  for (const { name, description, variables } of groups.values()) {
    const planned = { name, description, ...storedVariables('group', name, variables) };
    const found = byName.get(name);
    if (found) matched.push({ known: found, planned });
    else created.push(planned);
    await yielder.yieldIfDue();
  }
  return { created, matched, ...undeliveredObjects(known, matched, options) };
}

async function planHosts(
  { hosts }: InventoryDelivery,
  known: readonly KnownHost[],
  options: ImportOptions,
  yielder: Yielder,
): Promise<ObjectPlan<KnownHost, PlannedHost>> {
  const byName = new Map(known.map((object) => [object.name, object]));
  // Only hosts of this source are matched by id, because ids of different systems can be equal.
  const claimed = known.filter((object) => object.is_claimed && object.instance_id !== '');
  const byInstance = new Map(claimed.map((object) => [object.instance_id, object]));
  const matchedIds = new Set<number>();
  const created: PlannedHost[] = [];
  const matched: Matched<KnownHost, PlannedHost>[] = [];
  // Ids are matched before names, because a host can have received another host's name. A source can deliver
  // one id under several names; those hosts are matched by both.
  const found = new Map<DeliveredHost, KnownHost>();
  for (const find of [
    ({ name, instanceId }: DeliveredHost) => {
      const same = byName.get(name);
      return same?.is_claimed && same.instance_id === instanceId ? same : undefined;
    },
    ({ instanceId }: DeliveredHost) => (instanceId === '' ? undefined : byInstance.get(instanceId)),
    ({ name }: DeliveredHost) => byName.get(name),
  ]) {
    for (const host of hosts.values()) {
      const candidate = found.has(host) ? undefined : find(host);
      if (!candidate || matchedIds.has(candidate.id)) continue;
      matchedIds.add(candidate.id);
      found.set(host, candidate);
    }
  }
  for (const host of hosts.values()) {
    const { name, description, instanceId, isEnabled } = host;
    const text = storedVariables('host', name, host.variables);
    const planned = { name, description, instanceId, isEnabled, ...text };
    const candidate = found.get(host);
    if (candidate) matched.push({ known: candidate, planned });
    else created.push(planned);
    await yielder.yieldIfDue();
  }
  const undelivered = undeliveredObjects(known, matched, options);
  assertNamesFree({ created, matched, ...undelivered }, byName);
  return { created, matched, ...undelivered };
}

/**
 * Returns the objects that this source no longer delivers: to remove if only this source delivered them, to
 * release if a user created them or another source delivers them. Empty without the option `overwrite`.
 */
function undeliveredObjects<Known extends KnownObject>(
  known: readonly Known[],
  matched: readonly Matched<Known, unknown>[],
  { overwrite }: ImportOptions,
): { removed: Known[]; released: Known[] } {
  if (!overwrite) return { removed: [], released: [] };
  const deliveredIds = new Set(matched.map((match) => match.known.id));
  const undelivered = known.filter(({ id, is_claimed }) => is_claimed && !deliveredIds.has(id));
  const isRemovable = ({ is_imported, has_others }: Known): boolean => is_imported && !has_others;
  return {
    removed: undelivered.filter(isRemovable),
    released: undelivered.filter((object) => !isRemovable(object)),
  };
}

/** Checks that no host receives the name of a host that remains. */
function assertNamesFree(
  { created, matched, removed }: ObjectPlan<KnownHost, PlannedHost>,
  byName: ReadonlyMap<string, KnownHost>,
): void {
  const renamed = matched.filter(({ known, planned }) => known.name !== planned.name);
  const freedIds = new Set([...removed, ...renamed.map(({ known }) => known)].map(({ id }) => id));
  for (const { name } of [...created, ...renamed.map(({ planned }) => planned)]) {
    const existing = byName.get(name);
    if (existing && !freedIds.has(existing.id)) {
      throw new ImportError(`A host cannot be named ${name}: another host keeps that name.`);
    }
  }
}

function resultingNames(
  { created, matched, removed }: ObjectPlan<KnownObject, PlannedObject>,
  known: readonly KnownObject[],
): Set<string> {
  const names = new Set(known.map(({ name }) => name));
  for (const { name } of removed) names.delete(name);
  for (const match of matched)
    if (match.known.name !== match.planned.name) names.delete(match.known.name);
  for (const { name } of created) names.add(name);
  for (const { planned } of matched) names.add(planned.name);
  return names;
}

/** Checks that no group has the name of a host: Ansible identifies both by name only. */
function assertNoSharedNames(
  groups: ReadonlySet<string>,
  hosts: ReadonlySet<string>,
  delivered: InventoryDelivery['groups'],
): void {
  for (const name of groups) {
    if (!hosts.has(name)) continue;
    const [noun, other] = delivered.has(name) ? ['group', 'host'] : ['host', 'group'];
    throw new ImportError(`The ${noun} ${name} has the name of a ${other}.`);
  }
}

/**
 * Returns variables in their stored form, with a digest.
 *
 * @throws ImportError for variables that are too long or cannot be stored
 */
export function storedVariables(
  noun: string,
  name: string,
  variables: ImportedVariables,
): Pick<PlannedObject, 'delivered' | 'digest'> {
  if (!isStorableJson(variables)) {
    throw new ImportError(`The variables of the ${noun} ${name} cannot be stored.`);
  }
  try {
    // Runs and later imports read stored variables by these rules.
    checkedObject(variables, { depth: MAX_DEPTH });
  } catch (error) {
    const reason = messageOf(error);
    throw new ImportError(`The variables of the ${noun} ${name} cannot be stored: ${reason}.`);
  }
  const delivered = Object.keys(variables).length === 0 ? '' : jsonText(variables);
  if (delivered.length > MAX_VARIABLES) {
    throw new ImportError(
      `The variables of the ${noun} ${name} have more than ${MAX_VARIABLES} characters.`,
    );
  }
  return { delivered, digest: digestOf(delivered) };
}

/** Returns the same MD5 as PostgreSQL's `md5`. The digest detects changes and protects no secret. */
export const digestOf = (text: string): string => createHash('md5').update(text).digest('hex');

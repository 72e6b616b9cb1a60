import { Yielder } from '../common/yielder.js';
import {
  parseVariables,
  readAllVariables,
  VariablesError,
  type VariablesReader,
} from '../common/fields/variables.js';
import { append } from '../common/records.js';

/** A group row; `variables` is JSON or YAML text. */
export interface GroupRow {
  readonly id: number;
  readonly name: string;
  readonly variables: string;
}

/** A host row; `variables` is JSON or YAML text. */
export interface HostRow extends GroupRow {
  readonly enabled: boolean;
}

/** One inventory as plain rows, in any order. */
export interface AnsibleInventoryRows {
  /** Variables of the inventory, as JSON or YAML text. */
  readonly variables: string;
  readonly groups: readonly GroupRow[];
  readonly hosts: readonly HostRow[];
  readonly groupHosts: readonly { readonly groupId: number; readonly hostId: number }[];
  readonly groupChildren: readonly { readonly parentId: number; readonly childId: number }[];
}

/** A slice of the hosts: `number` (from 1) of `count`. */
export interface Slice {
  readonly number: number;
  readonly count: number;
}

/**
 * Options of `GET /inventories/N/script/` (docs/contract/resources.md#inventory-script). A job uses
 * hostvars and towervars.
 */
export interface InventoryOptions {
  /** True to add `_meta.hostvars`. */
  readonly hostvars?: boolean;
  /** True to add `remote_tower_*` and `remote_host_*` to each host's variables. */
  readonly towervars?: boolean;
  /** True to include disabled hosts. */
  readonly all?: boolean;
  readonly slice?: Slice;
  /** True to leave out all hosts; groups and their variables remain. */
  readonly withoutHosts?: boolean;
}

type Variables = Record<string, unknown>;

/** Variables that `towervars` adds to a host. */
export const HOST_MARKS = [
  'remote_tower_enabled',
  'remote_tower_id',
  'remote_host_enabled',
  'remote_host_id',
] as const;

/**
 * One group of the inventory document; empty keys are left out, except one key that `all` requires.
 */
export interface InventoryGroup {
  hosts?: string[];
  children?: string[];
  vars?: Variables;
}

/** The document that an Ansible inventory script prints for `--list`. */
export type AnsibleInventory = Record<
  string,
  InventoryGroup | { hostvars: Record<string, Variables> }
>;

/**
 * Builds the inventory document (docs/contract/resources.md#inventory-script). Yields to the event
 * loop regularly, because the variables of a whole inventory can be megabytes of YAML.
 *
 * @throws VariablesError naming the host, group or inventory whose variables cannot be parsed; Unavailable
 */
export async function buildInventory(
  rows: AnsibleInventoryRows,
  options: InventoryOptions = {},
): Promise<AnsibleInventory> {
  const texts = [rows, ...rows.groups, ...rows.hosts].map(({ variables }) => variables);
  const read = await readAllVariables(texts);
  const hosts = selectHosts(rows.hosts, options);
  const entries = groupEntries(rows, hosts, read);
  if (options.hostvars) {
    const hostvars: [string, Variables][] = [];
    const yielder = new Yielder();
    for (const host of hosts) {
      hostvars.push([host.name, hostVariables(host, options, read)]);
      await yielder.yieldIfDue();
    }
    entries.push(['_meta', { hostvars: Object.fromEntries(hostvars) }]);
  }
  return Object.fromEntries(entries);
}

function groupEntries(
  rows: AnsibleInventoryRows,
  hosts: HostRow[],
  read: VariablesReader,
): [string, AnsibleInventory[string]][] {
  const hostsByGroup = namesByGroup(
    hosts,
    rows.groupHosts.map(({ groupId, hostId }) => [groupId, hostId]),
  );
  const childrenByGroup = namesByGroup(
    rows.groups,
    rows.groupChildren.map(({ parentId, childId }) => [parentId, childId]),
  );
  const groups = [...rows.groups].sort(byName);
  const entries: [string, AnsibleInventory[string]][] = [
    ['all', allGroup(rows, hosts, groups, read)],
  ];
  for (const group of groups) {
    const vars = variablesOf('group', group, read);
    const entry = compact(hostsByGroup.get(group.id), childrenByGroup.get(group.id), vars);
    if (Object.keys(entry).length > 0) entries.push([group.name, entry]);
  }
  return entries;
}

/**
 * Returns the variables of one host, the response of `?host=<name>`.
 *
 * @throws VariablesError if their text cannot be parsed
 */
export function hostVariables(
  host: HostRow,
  options: InventoryOptions = {},
  read: VariablesReader = parseVariables,
): Variables {
  const variables = variablesOf('host', host, read);
  if (!options.towervars) return variables;
  const enabled = String(host.enabled);
  const marks = {
    remote_tower_enabled: enabled,
    remote_tower_id: host.id,
    remote_host_enabled: enabled,
    remote_host_id: host.id,
  };
  // Takes a tenth of the time of spread syntax, which creates a new hidden class for each object.
  return Object.assign({}, variables, marks);
}

/** Parses `slice1of3`; returns null for any other text and for inconsistent numbers. */
export function parseSubset(text: string): Slice | null {
  const match = /^slice(\d{1,6})of(\d{1,6})$/.exec(text);
  const [number, count] = [Number(match?.[1]), Number(match?.[2])];
  return number >= 1 && number <= count ? { number, count } : null;
}

/** Returns the hosts of a document with these options. */
export function selectHosts(hosts: readonly HostRow[], options: InventoryOptions): HostRow[] {
  const { all, slice, withoutHosts } = options;
  if (withoutHosts) return [];
  const chosen = hosts.filter((host) => all || host.enabled).sort(byName);
  if (!slice) return chosen;
  return chosen.filter((_, index) => index % slice.count === slice.number - 1);
}

function allGroup(
  rows: AnsibleInventoryRows,
  hosts: HostRow[],
  groups: GroupRow[],
  read: VariablesReader,
): InventoryGroup {
  const knownGroups = new Set(groups.map((group) => group.id));
  const grouped = new Set(
    rows.groupHosts.filter((row) => knownGroups.has(row.groupId)).map((row) => row.hostId),
  );
  const ungrouped = hosts.filter((host) => !grouped.has(host.id)).map((host) => host.name);
  const vars = variablesOf('inventory', { name: 'variables', variables: rows.variables }, read);
  const group = compact(
    ungrouped,
    groups.map(({ name }) => name),
    vars,
  );
  // Ansible reads `all` without any of its keys as the name of a host, and fails.
  return Object.keys(group).length > 0 ? group : { hosts: [] };
}

function namesByGroup(
  members: readonly { id: number; name: string }[],
  pairs: readonly (readonly [number, number])[],
): Map<number, string[]> {
  const nameById = new Map(members.map((member) => [member.id, member.name]));
  const names = new Map<number, string[]>();
  for (const [groupId, memberId] of pairs) {
    const name = nameById.get(memberId);
    if (name !== undefined) append(names, groupId, name);
  }
  for (const list of names.values()) list.sort(compareNames);
  return names;
}

function compact(
  hosts: string[] | undefined,
  children: string[] | undefined,
  vars: Variables,
): InventoryGroup {
  return {
    ...(hosts?.length ? { hosts } : {}),
    ...(children?.length ? { children } : {}),
    ...(Object.keys(vars).length > 0 ? { vars } : {}),
  };
}

function variablesOf(
  kind: string,
  row: { name: string; variables: string },
  read: VariablesReader,
): Variables {
  try {
    return read(row.variables);
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    throw new VariablesError(`${kind} ${row.name}: ${error.message}`);
  }
}

function byName(left: { name: string }, right: { name: string }): number {
  return compareNames(left.name, right.name);
}

/** Compares by code unit and not by locale, so that slices are the same on every machine. */
function compareNames(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

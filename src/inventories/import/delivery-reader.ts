import { isStorable } from '../../common/fields/text.js';
import { bareRecord, isRecord, listOf } from '../../common/records.js';
import { Yielder } from '../../common/yielder.js';
import {
  ImportError,
  type DeliveredGroup,
  type DeliveredHost,
  type InventoryDelivery,
  type DeliveryRules,
  type ImportedVariables,
} from './delivery.js';
import { HOST_MARKS } from '../ansible-inventory.js';
import { IMPLICIT_GROUPS, MAX_PORT } from '../host-name.js';
import { enabledBy, textAtFirst } from './variable-paths.js';

const MAX_NAME_LENGTH = 512;
/** Maximum number of hosts and groups of a document, which bounds the memory of the worker. */
const MAX_OBJECTS = 500_000;
const META = '_meta';
/** Delimiters of Jinja templates. */
const TEMPLATES = [
  ['{{', '}}'],
  ['{%', '%}'],
] as const;
/**
 * Variables that contain the description of a host or group; they are not imported as variables.
 */
const DESCRIPTIONS = ['_svc_description', '_awx_description'];

/** A group whose entries are still being read. */
interface OpenGroup {
  variables: ImportedVariables;
  hosts: Set<string>;
  children: Set<string>;
}

/**
 * Reads the inventory document that Ansible printed
 * (docs/contract/inventory-sources.md#what-is-read). Accepts lists in place of objects.
 *
 * @throws ImportError naming the part that cannot be imported
 */
export async function readDelivery(
  document: unknown,
  rules: DeliveryRules,
): Promise<InventoryDelivery> {
  if (!isRecord(document)) throw new ImportError('The inventory is not a JSON object.');
  const reader = new DeliveryReader(document, rules);
  const yielder = new Yielder();
  for (const [name, entry] of Object.entries(document)) {
    if (name !== META) await reader.readGroup(name, entry, yielder);
    await yielder.yieldIfDue();
  }
  return reader.finish(yielder);
}

class DeliveryReader {
  private readonly groups = new Map<string, OpenGroup>();
  /** Host variables from group entries, by host name. */
  private readonly hosts = new Map<string, Record<string, unknown>>();
  /** Parsed host names by their text in the document. */
  private readonly names = new Map<string, { name: string; port: number | null }>();
  private readonly hostvars: Readonly<Record<string, unknown>>;
  private variables: ImportedVariables = {};

  constructor(
    document: Readonly<Record<string, unknown>>,
    private readonly rules: DeliveryRules,
  ) {
    const meta = document[META];
    const hostvars = isRecord(meta) ? meta.hostvars : undefined;
    this.hostvars = isRecord(hostvars) ? hostvars : {};
  }

  async readGroup(name: string, entry: unknown, yielder: Yielder): Promise<void> {
    const group = IMPLICIT_GROUPS.has(name) ? null : this.openGroup(name);
    const { hosts, children, vars } = Array.isArray(entry)
      ? { hosts: entry, children: [], vars: {} }
      : membersOf(name, entry);
    if (group) group.variables = vars;
    else if (name === 'all') this.variables = vars;
    for (const child of namesIn(children)) {
      if (IMPLICIT_GROUPS.has(child)) continue;
      this.openGroup(child);
      group?.children.add(child);
      await yielder.yieldIfDue();
    }
    for (const [raw, variables] of entriesOf(hosts)) {
      const host = this.readHost(raw, variables);
      group?.hosts.add(host);
      await yielder.yieldIfDue();
    }
  }

  async finish(yielder: Yielder): Promise<InventoryDelivery> {
    for (const raw of Object.keys(this.hostvars)) {
      this.readHost(raw, {});
      await yielder.yieldIfDue();
    }
    const groups = await this.deliveredGroups(yielder);
    const hosts = new Map<string, DeliveredHost>();
    for (const [name, variables] of this.hosts) {
      if (groups.has(name)) {
        throw new ImportError(`A host and a group have the same name: ${name}`);
      }
      hosts.set(name, this.deliveredHost(name, { ...variables }));
      await yielder.yieldIfDue();
    }
    const { variables } = withoutDescription('inventory', this.variables);
    return { variables, groups, hosts };
  }

  /** @returns the name of the host */
  private readHost(raw: string, variables: ImportedVariables): string {
    const known = this.names.get(raw);
    if (known && Object.keys(variables).length === 0) return known.name;
    const parsed = known ?? splitPort(raw);
    if (!known) this.checkNew('host', parsed.name);
    this.names.set(raw, parsed);
    const own = isRecord(this.hostvars[raw]) ? this.hostvars[raw] : {};
    const host = this.hosts.get(parsed.name) ?? bareRecord<unknown>();
    this.hosts.set(parsed.name, host);
    // Not copied for each group: thousands of groups can have variables for a host with as many of its own.
    const port = parsed.port === null ? [] : [['ansible_port', parsed.port] as const];
    for (const [key, value] of [...port, ...Object.entries(variables)]) {
      if (!Object.hasOwn(own, key)) host[key] = value;
    }
    if (!known) Object.assign(host, own);
    return parsed.name;
  }

  private openGroup(name: string): OpenGroup {
    const existing = this.groups.get(name);
    if (existing) return existing;
    this.checkNew('group', name);
    const group = { variables: {}, hosts: new Set<string>(), children: new Set<string>() };
    this.groups.set(name, group);
    return group;
  }

  private checkNew(noun: 'host' | 'group', name: string): void {
    checkName(noun, name);
    if (this.groups.size + this.names.size < MAX_OBJECTS) return;
    throw new ImportError(`The inventory has more than ${MAX_OBJECTS} hosts and groups.`);
  }

  private async deliveredGroups(yielder: Yielder): Promise<Map<string, DeliveredGroup>> {
    const delivered = new Map<string, DeliveredGroup>();
    for (const [name, { hosts, children, variables: all }] of this.groups) {
      const { description, variables } = withoutDescription(`group ${name}`, all);
      delivered.set(name, { name, description, variables, hosts, children });
      await yielder.yieldIfDue();
    }
    return delivered;
  }

  private deliveredHost(name: string, all: ImportedVariables): DeliveredHost {
    const { description, variables } = withoutDescription(`host ${name}`, all);
    const { enabled, instanceId, originals } = this.rules;
    return {
      name,
      description,
      variables: originals ? withoutMarks(variables) : variables,
      instanceId: originals
        ? String(originals.get(name) ?? '')
        : textAtFirst(variables, instanceId),
      isEnabled: enabled ? enabledBy(variables, enabled) : null,
    };
  }
}

function membersOf(name: string, entry: unknown) {
  if (!isRecord(entry)) throw new ImportError(`The group ${name} is neither an object nor a list.`);
  return {
    hosts: entry.hosts,
    children: entry.children,
    vars: isRecord(entry.vars) ? entry.vars : {},
  };
}

/** Returns the members of a group: a list of names, or an object with variables by name. */
function entriesOf(members: unknown): [string, ImportedVariables][] {
  if (!isRecord(members)) return namesIn(members).map((name) => [name, {}]);
  return Object.entries(members).map(([name, value]) => [name, isRecord(value) ? value : {}]);
}

const namesIn = (members: unknown): string[] =>
  isRecord(members) ? Object.keys(members) : listOf(members).map((name) => String(name));

/**
 * Splits `web:2222` and `[::1]:22` into host and port; drops an invalid port. Other colons belong to the
 * name.
 */
export function splitPort(raw: string): { name: string; port: number | null } {
  const match = /^\[([^\]]+)\]:(.*)$/s.exec(raw) ?? /^([^:]+):([^:]*)$/s.exec(raw);
  const [, name, port = ''] = match ?? [];
  if (name === undefined) return { name: raw, port: null };
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  return { name, port: number >= 1 && number <= MAX_PORT ? number : null };
}

function checkName(noun: 'host' | 'group', name: string): void {
  if (noun === 'host' && IMPLICIT_GROUPS.has(name)) {
    throw new ImportError(
      `A host cannot be named ${name}: every inventory has a group of that name.`,
    );
  }
  if (name.length > MAX_NAME_LENGTH) {
    const start = JSON.stringify(name.slice(0, MAX_NAME_LENGTH));
    throw new ImportError(
      `The name of a ${noun} is longer than ${MAX_NAME_LENGTH} characters: it starts with ${start}`,
    );
  }
  if (name.trim() === '' || name.includes('\0') || !name.isWellFormed()) {
    throw new ImportError(`The name of a ${noun} cannot be stored: ${JSON.stringify(name)}`);
  }
  if (hasTemplate(name)) {
    throw new ImportError(`Inline Jinja variables are not allowed.: ${name}`);
  }
}

function hasTemplate(name: string): boolean {
  return TEMPLATES.some(([start, end]) => {
    const at = name.indexOf(start);
    return at >= 0 && name.includes(end, at + start.length);
  });
}

function withoutMarks(variables: ImportedVariables): ImportedVariables {
  const marks: readonly string[] = HOST_MARKS;
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !marks.includes(name)));
}

function withoutDescription(
  label: string,
  all: ImportedVariables,
): { description: string | null; variables: ImportedVariables } {
  const name = DESCRIPTIONS.find((option) => Object.hasOwn(all, option));
  if (name === undefined) return { description: null, variables: all };
  const { [name]: value, ...variables } = all;
  const description = String(value);
  if (isStorable(description)) return { description, variables };
  throw new ImportError(`The description of the ${label} cannot be stored.`);
}

import { jsonText } from '../common/fields/json-text.js';
import { mergeExact } from '../common/exact-json.js';
import { noDictionary, noList } from '../common/fields/fault-texts.js';
import { readFields } from '../common/fields/validate.js';
import { parseVariables } from '../common/fields/variables.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { isRecord } from '../common/records.js';
import { Yielder } from '../common/yielder.js';
import { RESERVED_GROUP_NAMES, splitHostName } from '../inventories/host-name.js';
import { BulkGroupEntry, BulkHostEntry } from './bulk-host-entry.schema.js';

/** Host of a request with values as stored; null: not sent. */
export interface HostEntry {
  name: string;
  description: string | null;
  enabled: boolean | null;
  instance_id: string | null;
  /** JSON or YAML text. */
  variables: string | null;
  /** Names of the inventory's groups that the host is added to. */
  groups: string[];
}

/**
 * Parses the entries of a bulk creation, yielding to the event loop between them.
 *
 * @returns valid entries, and errors by index of the entry
 */
export async function readHostEntries(given: readonly unknown[]): Promise<{
  entries: HostEntry[];
  errors: FieldErrors;
}> {
  const entries: HostEntry[] = [];
  const errors: FieldErrors = {};
  const yielder = new Yielder();
  for (const [index, one] of given.entries()) {
    const faults: FieldErrors = {};
    const entry = readHost(one, faults);
    if (entry) entries.push(entry);
    else errors[String(index)] = faults;
    await yielder.yieldIfDue();
  }
  return { entries, errors };
}

/**
 * Parses one host.
 *
 * @returns null for an invalid host, whose errors are added to `faults` by field
 */
export function readHost(given: unknown, faults: FieldErrors): HostEntry | null {
  if (!isRecord(given)) {
    faults.__all__ = [noDictionary(given)];
    return null;
  }
  const { values, errors } = readFields(BulkHostEntry, given);
  Object.assign(faults, errors);
  const entry: HostEntry = {
    name: values.name ?? '',
    description: values.description ?? null,
    enabled: values.enabled ?? null,
    instance_id: values.instance_id ?? null,
    variables: values.variables ?? null,
    groups: readGroups(given.groups, faults),
  };
  takePort(entry, faults);
  return Object.keys(faults).length === 0 ? entry : null;
}

/** Returns the distinct group names. */
function readGroups(given: unknown, faults: FieldErrors): string[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) {
    faults.groups = [noList(given)];
    return [];
  }
  const names = new Set<string>();
  for (const one of given) {
    const { values, errors } = readFields(BulkGroupEntry, { name: one });
    const { name = '' } = values;
    const fault = RESERVED_GROUP_NAMES.has(name) ? ['Invalid group name.'] : errors.name;
    if (fault) faults.groups = fault;
    names.add(name);
  }
  return [...names];
}

/**
 * Moves a port from the name to the variables: `web:2222` is the host `web` on port 2222, as with a
 * single host.
 */
function takePort(entry: HostEntry, faults: FieldErrors): void {
  if (faults.name) return;
  try {
    const { name, port } = splitHostName(entry.name);
    if (port === null) return;
    entry.name = name;
    if (faults.variables) return;
    const variables = mergeExact(parseVariables(entry.variables ?? ''), { ansible_ssh_port: port });
    entry.variables = jsonText(variables);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    Object.assign(faults, error.errors);
  }
}

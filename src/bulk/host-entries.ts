import { jsonText } from '../common/fields/json-text.js';
import { mergeExact } from '../common/exact-json.js';
import { noDictionary, noList } from '../common/fields/fault-texts.js';
import { readFields } from '../common/fields/validation.js';
import { parseVariables } from '../common/fields/variables.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { isRecord } from '../common/records.js';
import { Yielder } from '../common/yielder.js';
import { RESERVED_GROUP_NAMES, splitHostName } from '../inventories/host-name.js';
import type { OnConflict } from '../inventories/host-writes.repository.js';
import { BulkGroupEntry, BulkHostEntry } from './bulk-host-entry.dto.js';

const PORT_NEEDS_VARIABLES =
  'This field is required if the name has a port, because the port is a variable and an update replaces all variables.';

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
export async function readHostEntries(
  hosts: readonly unknown[],
  onConflict: OnConflict,
): Promise<{ entries: HostEntry[]; errors: FieldErrors }> {
  const entries: HostEntry[] = [];
  const errors: FieldErrors = {};
  const yielder = new Yielder();
  for (const [index, host] of hosts.entries()) {
    const hostErrors: FieldErrors = {};
    const entry = readHost(host, hostErrors, onConflict);
    if (entry) entries.push(entry);
    else errors[String(index)] = hostErrors;
    await yielder.yieldIfDue();
  }
  return { entries, errors };
}

/**
 * Parses one host.
 *
 * @returns null for an invalid host, whose errors are added to `hostErrors` by field
 */
export function readHost(
  value: unknown,
  hostErrors: FieldErrors,
  onConflict: OnConflict,
): HostEntry | null {
  if (!isRecord(value)) {
    hostErrors.__all__ = [noDictionary(value)];
    return null;
  }
  const { values, errors } = readFields(BulkHostEntry, value);
  Object.assign(hostErrors, errors);
  const entry: HostEntry = {
    name: values.name ?? '',
    description: values.description ?? null,
    enabled: values.enabled ?? null,
    instance_id: values.instance_id ?? null,
    variables: values.variables ?? null,
    groups: readGroups(value.groups, hostErrors),
  };
  takePort(entry, hostErrors, onConflict);
  return Object.keys(hostErrors).length === 0 ? entry : null;
}

/** Returns the distinct group names. */
function readGroups(value: unknown, hostErrors: FieldErrors): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    hostErrors.groups = [noList(value)];
    return [];
  }
  const names = new Set<string>();
  for (const group of value) {
    const { values, errors } = readFields(BulkGroupEntry, { name: group });
    const { name = '' } = values;
    const error = RESERVED_GROUP_NAMES.has(name) ? ['Invalid group name.'] : errors.name;
    if (error) hostErrors.groups = error;
    names.add(name);
  }
  return [...names];
}

/**
 * Moves a port from the name to the variables: `web:2222` is the host `web` on port 2222, as with a
 * single host. An update must contain the variables, because it replaces all of them.
 */
function takePort(entry: HostEntry, hostErrors: FieldErrors, onConflict: OnConflict): void {
  if (hostErrors.name) return;
  try {
    const { name, port } = splitHostName(entry.name);
    if (port === null) return;
    entry.name = name;
    if (hostErrors.variables) return;
    if (onConflict === 'update' && entry.variables === null) {
      hostErrors.variables = [PORT_NEEDS_VARIABLES];
      return;
    }
    const variables = mergeExact(parseVariables(entry.variables ?? ''), { ansible_ssh_port: port });
    entry.variables = jsonText(variables);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    Object.assign(hostErrors, error.errors);
  }
}

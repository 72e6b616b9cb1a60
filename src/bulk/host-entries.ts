import { isStorable, isStorableJson } from '../common/fields/text.js';
import { toBoolean } from '../common/fields/lenient.js';
import { typeName } from '../common/fields/fault-texts.js';
import { parseSentVariables, parseVariables } from '../common/fields/variables.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { RESERVED_GROUP_NAMES, splitHostName } from '../inventories/host-name.js';
import { messageOf } from '../common/errors/message-of.js';

/** A host of a request, its values as they are stored; null: not sent. */
export interface HostEntry {
  name: string;
  description: string | null;
  enabled: boolean | null;
  instance_id: string | null;
  /** JSON or YAML text. */
  variables: string | null;
  /** Names of groups of the inventory that the host shall be in. */
  groups: string[];
}

const MAX_NAME = 512;
const MAX_INSTANCE_ID = 1024;

/**
 * Reads the entries of a bulk create. Written by hand: a request may hold thousands, and the general
 * validation costs forty times as much an entry.
 *
 * @returns faults by index of their entry beside the entries; entries with faults are left out
 */
export function readHostEntries(given: readonly unknown[]): {
  entries: HostEntry[];
  errors: FieldErrors;
} {
  const entries: HostEntry[] = [];
  const errors: FieldErrors = {};
  given.forEach((one, index) => {
    const faults: FieldErrors = {};
    const entry = readHost(one, faults);
    if (entry) entries.push(entry);
    else errors[String(index)] = faults;
  });
  return { entries, errors };
}

/** Reads one host. @returns null when it has faults, which are added to `faults` by field */
export function readHost(given: unknown, faults: FieldErrors): HostEntry | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    faults.__all__ = [`Invalid data. Expected a dictionary, but got ${typeName(given)}.`];
    return null;
  }
  const host = given as Record<string, unknown>;
  const entry: HostEntry = {
    name: readName(host.name, faults),
    description: readText('description', host.description, faults),
    enabled: readSwitch('enabled', host.enabled, faults),
    instance_id: readText('instance_id', host.instance_id, faults, MAX_INSTANCE_ID)?.trim() ?? null,
    variables: readVariables(host.variables, faults),
    groups: readGroups(host.groups, faults),
  };
  takePort(entry, faults);
  return Object.keys(faults).length === 0 ? entry : null;
}

function readName(given: unknown, faults: FieldErrors): string {
  if (given === undefined) {
    faults.name = ['This field is required.'];
    return '';
  }
  if (given === null) {
    faults.name = ['This field may not be null.'];
    return '';
  }
  const name = (readText('name', given, faults, MAX_NAME) ?? '').trim();
  if (name === '' && !faults.name) faults.name = ['This field may not be blank.'];
  return name;
}

function readText(
  field: string,
  given: unknown,
  faults: FieldErrors,
  max = Number.POSITIVE_INFINITY,
): string | null {
  if (given === undefined) return null;
  if (given === null) return '';
  const text = typeof given === 'number' ? String(given) : given;
  if (typeof text !== 'string') faults[field] = ['Not a valid string.'];
  else if (!isStorable(text)) faults[field] = ['Null characters are not allowed.'];
  else if (text.length > max && [...text.trim()].length > max) {
    faults[field] = [`Ensure this field has no more than ${max} characters.`];
  } else return text;
  return '';
}

function readSwitch(field: string, given: unknown, faults: FieldErrors): boolean | null {
  if (given === undefined) return null;
  const value = given === null ? false : toBoolean(given);
  if (value === undefined) faults[field] = ['Must be a valid boolean.'];
  return value ?? false;
}

function readVariables(given: unknown, faults: FieldErrors): string | null {
  if (given === undefined) return null;
  if (given === null || given === '') return '';
  const text = typeof given === 'object' ? JSON.stringify(given) : given;
  if (typeof text !== 'string') {
    faults.variables = ['Not a valid string.'];
    return '';
  }
  try {
    if (!isStorable(text) || !isStorableJson(parseSentVariables(text))) {
      faults.variables = ['Null characters are not allowed.'];
    }
  } catch (error) {
    faults.variables = [messageOf(error)];
  }
  return text;
}

/** Names of groups, each once. */
function readGroups(given: unknown, faults: FieldErrors): string[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) {
    faults.groups = [`Expected a list of items but got type "${typeName(given)}".`];
    return [];
  }
  const names = new Set<string>();
  for (const one of given) {
    const ofOne: FieldErrors = {};
    const name = readName(one, ofOne);
    if (RESERVED_GROUP_NAMES.has(name)) ofOne.name = ['Invalid group name.'];
    if (ofOne.name) faults.groups = ofOne.name;
    names.add(name);
  }
  return [...names];
}

/** `web:2222` is the host `web` on port 2222, as with a single host. */
function takePort(entry: HostEntry, faults: FieldErrors): void {
  if (faults.name || !entry.name.includes(':')) return;
  try {
    const { name, port } = splitHostName(entry.name);
    if (port === null) return;
    entry.name = name;
    if (faults.variables) return;
    const variables = { ...parseVariables(entry.variables ?? ''), ansible_ssh_port: port };
    entry.variables = JSON.stringify(variables);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    Object.assign(faults, error.errors);
  }
}

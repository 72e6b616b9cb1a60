import { partsOf } from '../../common/fields/text.js';
import { exactJson } from '../../common/exact-json.js';
import { isRecord } from '../../common/records.js';
import type { EnabledRule, ImportedVariables } from './delivery.js';

/** Texts that are read as false. */
const FALSE_TEXTS = new Set(['', '0', 'false', 'no', 'off', 'none', 'null']);

/** Returns the value at a dotted path in variables; undefined if there is none. */
function variableAt(variables: ImportedVariables, path: string, ignoresCase = false): unknown {
  // A variable whose name contains the dots takes precedence over a path.
  if (Object.hasOwn(variables, path)) return variables[path];
  let value: unknown = variables;
  for (const name of path.split('.')) {
    if (!isRecord(value)) return undefined;
    value = memberNamed(value, name, ignoresCase);
  }
  return value;
}

/**
 * Returns the enabled state of a host by its variables
 * (docs/contract/inventory-sources.md#enabled-hosts); null if they do not define it.
 */
export function enabledBy(variables: ImportedVariables, rule: EnabledRule): boolean | null {
  const { paths, value: wanted, ignoresCase } = rule;
  const found = paths
    .map((path) => variableAt(variables, path, ignoresCase))
    .find((value) => value !== undefined);
  if (found === undefined) return null;
  const text = textOf(found).toLowerCase();
  return wanted === '' ? !FALSE_TEXTS.has(text) : text === wanted.toLowerCase();
}

/** Returns the first non-empty value at one of the paths, as text; empty if there is none. */
export function textAtFirst(variables: ImportedVariables, paths: readonly string[]): string {
  return paths.map((path) => textOf(variableAt(variables, path))).find((text) => text !== '') ?? '';
}

/** Returns the alternatives of a path, which settings and sources separate by commas. */
export const pathsIn = (text: string): string[] => partsOf(text, ',');

function memberNamed(value: Record<string, unknown>, name: string, ignoresCase: boolean): unknown {
  if (Object.hasOwn(value, name)) return value[name];
  if (!ignoresCase) return undefined;
  const wanted = name.toLowerCase();
  const key = Object.keys(value).find((name) => name.toLowerCase() === wanted);
  return key === undefined ? undefined : value[key];
}

/** Key of the object in which Ansible wraps a text that must never be evaluated as a template. */
export const NO_TEMPLATE = '__ansible_unsafe';

function textOf(raw: unknown): string {
  const value = isRecord(raw) && Object.hasOwn(raw, NO_TEMPLATE) ? raw[NO_TEMPLATE] : raw;
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : exactJson(value);
}

import { exactJson } from '../../common/exact-json.js';
import { isRecord } from '../../common/records.js';
import type { EnabledRule, Variables } from './delivery.js';

/** Words that mean no where a value is asked for its truth. */
const NO = new Set(['', '0', 'false', 'no', 'off', 'none', 'null']);

/** What stands at a dotted path in variables; undefined where nothing does. */
export function valueAt(variables: Variables, path: string, ignoresCase = false): unknown {
  // A name with a dot in it is a name before it is a path.
  if (Object.hasOwn(variables, path)) return variables[path];
  let value: unknown = variables;
  for (const name of path.split('.')) {
    if (!isRecord(value)) return undefined;
    value = memberNamed(value, name, ignoresCase);
  }
  return value;
}

/**
 * Whether variables say that a host is enabled
 * (docs/contract/inventory-sources.md#enabled-hosts); null where they do not say.
 */
export function enabledBy(variables: Variables, rule: EnabledRule): boolean | null {
  const { paths, value: wanted, ignoresCase } = rule;
  const found = paths
    .map((path) => valueAt(variables, path, ignoresCase))
    .find((value) => value !== undefined);
  if (found === undefined) return null;
  const text = textOf(found).toLowerCase();
  return wanted === '' ? !NO.has(text) : text === wanted.toLowerCase();
}

/** The first of the paths at which something stands, as text; empty where nothing does. */
export function textAtFirst(variables: Variables, paths: readonly string[]): string {
  return paths.map((path) => textOf(valueAt(variables, path))).find((text) => text !== '') ?? '';
}

/** Alternatives of a path, as settings and sources write them: separated by commas. */
export const pathsIn = (text: string): string[] =>
  text
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '');

function memberNamed(value: Record<string, unknown>, name: string, ignoresCase: boolean): unknown {
  if (Object.hasOwn(value, name)) return value[name];
  if (!ignoresCase) return undefined;
  const wanted = name.toLowerCase();
  const key = Object.keys(value).find((one) => one.toLowerCase() === wanted);
  return key === undefined ? undefined : value[key];
}

/** How Ansible writes a text that it must never read as a template: an object with this one member. */
const NO_TEMPLATE = '__ansible_unsafe';

function textOf(marked: unknown): string {
  const value =
    isRecord(marked) && Object.hasOwn(marked, NO_TEMPLATE) ? marked[NO_TEMPLATE] : marked;
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : exactJson(value);
}

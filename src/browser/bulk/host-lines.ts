import { parseJson } from '../../common/fields/json-bounds.js';

/**
 * A token of a line: `a`, `key=value`, `key="two words"`, `'web 1'`. An escaped quote starts no quoted
 * text; otherwise the search for the ends of many such texts takes quadratic time.
 */
const TOKEN = /(?:[^\s"'\\]+|\\["\\]?|"(?:[^"\\]|\\.)*"|'[^']*')+/g;
const QUOTED = /\\["\\]|"((?:[^"\\]|\\.)*)"|'([^']*)'/g;
/**
 * Values that become JSON numbers or booleans. A number with a leading zero or with more than 15 digits
 * before the point is text.
 */
const LITERAL = /^(?:-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|true|false)$/;

/** A host in the format of the API. */
interface HostLine {
  name: string;
  variables?: Readonly<Record<string, unknown>>;
}

/** A part of a line without the form `name=value`. */
interface LineFault {
  /** Line number, starting at 1. */
  line: number;
  text: string;
}

/**
 * Parses hosts in the format of an inventory file: one host per line, with optional variables such
 * as `ansible_host=10.0.0.5` after the name. Skips empty lines and comments, which begin with `#`.
 *
 * @returns hosts, their line numbers starting at 1, and the invalid parts
 */
export function readHostLines(text: string): {
  hosts: readonly HostLine[];
  lines: readonly number[];
  faults: readonly LineFault[];
} {
  const hosts: HostLine[] = [];
  const lines: number[] = [];
  const faults: LineFault[] = [];
  text.split('\n').forEach((line, index) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return;
    const [name = '', ...rest] = trimmed.match(TOKEN) ?? [trimmed];
    const entries = rest.map(variableOf);
    const invalid = rest.filter((_, position) => entries[position] === null);
    for (const token of invalid) {
      faults.push({ line: index + 1, text: `“${token}” is not a variable. Write name=value.` });
    }
    const variables = Object.fromEntries(entries.filter((pair) => pair !== null));
    hosts.push({ name: unquoted(name), ...(entries.length > 0 ? { variables } : {}) });
    lines.push(index + 1);
  });
  return { hosts, lines, faults };
}

function variableOf(token: string): [name: string, value: unknown] | null {
  const [, name, value = ''] = /^([^=\s"']+)=(.*)$/s.exec(token) ?? [];
  if (name === undefined) return null;
  return [name, LITERAL.test(value) ? parseJson(value) : unquoted(value)];
}

const unquoted = (token: string): string =>
  token.replace(
    QUOTED,
    (text: string, double: string | undefined, single: string | undefined) =>
      double?.replace(/\\(.)/g, '$1') ?? single ?? text,
  );

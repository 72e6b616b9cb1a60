import { parseJson } from '../../common/fields/json-bounds.js';

/** A word of a line: `a`, `key=value`, `key="two words"`, `'web 1'`. */
const WORD = /(?:[^\s"']+|"(?:[^"\\]|\\.)*"|'[^']*')+/g;
const QUOTED = /"((?:[^"\\]|\\.)*)"|'([^']*)'/g;
/** Values that Ansible does not read as text; a number with a leading zero is a text. */
const LITERAL = /^(?:-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|true|false)$/;

/** A host as the API takes it. */
export interface HostLine {
  name: string;
  variables?: Readonly<Record<string, unknown>>;
}

/** A part of a line that is not `name=value`. */
export interface LineFault {
  /** Counted from 1. */
  line: number;
  text: string;
}

/**
 * Reads hosts that a person typed, one a line, as in an inventory file: a name, and behind it variables as
 * `ansible_host=10.0.0.5`. Empty lines and those that begin with `#` are none.
 *
 * @returns hosts with the numbers of their lines, from 1, and what is wrong
 */
export function readHostLines(text: string): {
  hosts: readonly HostLine[];
  lines: readonly number[];
  faults: readonly LineFault[];
} {
  const hosts: HostLine[] = [];
  const lines: number[] = [];
  const faults: LineFault[] = [];
  text.split('\n').forEach((given, index) => {
    const trimmed = given.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return;
    const [name = '', ...rest] = trimmed.match(WORD) ?? [trimmed];
    const pairs = rest.map(pairOf);
    const wrong = rest.filter((_, place) => pairs[place] === null);
    for (const word of wrong) {
      faults.push({ line: index + 1, text: `“${word}” is no variable: write name=value.` });
    }
    const variables = Object.fromEntries(pairs.filter((pair) => pair !== null));
    hosts.push({ name: unquoted(name), ...(pairs.length > 0 ? { variables } : {}) });
    lines.push(index + 1);
  });
  return { hosts, lines, faults };
}

function pairOf(word: string): [name: string, value: unknown] | null {
  const [, name, value = ''] = /^([^=\s"']+)=(.*)$/s.exec(word) ?? [];
  if (name === undefined) return null;
  return [name, LITERAL.test(value) ? parseJson(value) : unquoted(value)];
}

const unquoted = (word: string): string =>
  word.replace(QUOTED, (_, double: string | undefined, single: string | undefined) =>
    double === undefined ? (single ?? '') : double.replace(/\\(.)/g, '$1'),
  );

import { isMap, parseDocument, visit } from 'yaml';

import { parseJson } from './json-bounds.js';
import { parsePlainVariables } from './plain-variables.js';
import { MAX_DEPTH } from './text.js';
import { messageOf } from '../errors/message-of.js';
import { isRecord } from '../records.js';

/** Repeated references allowed in one YAML text; more is the "billion laughs" pattern. */
const MAX_ALIASES = 100;

/**
 * The text is neither a JSON nor a YAML object; `message` is the contract's wording
 * (docs/contract/conventions.md#variables).
 */
export class VariablesError extends Error {
  override readonly name = 'VariablesError';
}

/**
 * Reads a variables text as JSON, else as YAML 1.1 (as Ansible itself does), and returns the object.
 *
 * Empty text is `{}`. The result holds JSON values only.
 *
 * @throws VariablesError `Cannot parse as JSON (error: …) or YAML (error: …).`
 */
export function parseVariables(text: string): Record<string, unknown> {
  if (text.trim() === '' || text.trim() === '""') return {};
  const plain = parsePlainVariables(text);
  if (plain) return plain;
  try {
    return checkedObject(parseJson(text));
  } catch (jsonError) {
    return parseAsYaml(text, jsonError);
  }
}

function parseAsYaml(text: string, jsonError: unknown): Record<string, unknown> {
  try {
    return checkedObject(parseYaml(text));
  } catch (yamlError) {
    throw new VariablesError(
      `Cannot parse as JSON (error: ${reason(jsonError)}) or YAML (error: ${reason(yamlError)}).`,
    );
  }
}

function parseYaml(text: string): unknown {
  const document = parseDocument(text, {
    version: '1.1',
    logLevel: 'error',
    prettyErrors: false,
    strict: true,
  });
  // An unknown tag is only a warning to the parser, which would then drop it: `!vault` text must not become plain.
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) throw problem;
  visit(document, {
    Pair: (_, pair) => {
      if (isMap(pair.key)) throw new Error('a mapping cannot be a key');
    },
  });
  return document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
}

function checkedObject(value: unknown): Record<string, unknown> {
  if (!isRecord(value) || !isPlain(value)) {
    throw new Error(`Input type \`${typeName(value)}\` is not a dictionary`);
  }
  assertJson(value, 0);
  return value;
}

function assertJson(value: unknown, depth: number): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Error('numbers must be finite');
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) throw new Error(`nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (const item of value) assertJson(item, depth + 1);
    return;
  }
  if (!isPlain(value)) {
    throw new Error(`values of type \`${typeName(value)}\` are not compatible with JSON`);
  }
  for (const [key, item] of Object.entries(value)) {
    // Copied by assignment somewhere downstream, this key would change the prototype of the copy.
    if (key === '__proto__') throw new Error('the key "__proto__" is not allowed');
    assertJson(item, depth + 1);
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? value.constructor.name : typeof value;
}

function reason(error: unknown): string {
  if (error instanceof RangeError) return 'nested too deeply';
  return messageOf(error);
}

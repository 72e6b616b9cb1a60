import * as yaml from 'yaml';

export interface YamlLimits {
  /** Repeated references allowed in one text; more is the "billion laughs" pattern. */
  aliases: number;
  /** Nesting of the result. */
  depth: number;
  /** Characters of the result as JSON. */
  length: number;
}

export interface YamlTask {
  texts: readonly string[];
  limits: YamlLimits;
}

/**
 * A text as JSON, or why it is no object that JSON could hold, and from which character on where that is
 * known.
 */
export type YamlOutcome =
  { readonly json: string } | { readonly error: string; readonly at?: number | null };

/** Reads every text of a task. */
export function readAllYaml({ texts, limits }: YamlTask): YamlOutcome[] {
  return texts.map((text) => {
    try {
      const json = JSON.stringify(checkedObject(readYaml(text, limits), limits));
      if (json.length > limits.length) throw new Error(`it stands for too much`);
      return { json };
    } catch (error) {
      return { error: reasonOf(error), at: placeOf(error) };
    }
  });
}

/** Errors of the library tell it, and some of ours. */
function placeOf(error: unknown): number | null {
  const range: unknown = error instanceof Error && 'pos' in error ? error.pos : null;
  const start: unknown = Array.isArray(range) ? range[0] : null;
  return typeof start === 'number' ? start : null;
}

function readYaml(text: string, limits: YamlLimits): unknown {
  const document = yaml.parseDocument(text, {
    version: '1.1',
    logLevel: 'error',
    prettyErrors: false,
    strict: true,
    // The library compares each key with all before it.
    uniqueKeys: false,
  });
  // An unknown tag is only a warning to the parser, which would then drop it: `!vault` text must not become plain.
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) throw problem;
  let aliases = 0;
  yaml.visit(document, {
    Alias: () => {
      aliases += 1;
      if (aliases > limits.aliases) {
        throw new Error('Excessive alias count indicates a resource exhaustion attack');
      }
    },
    Map: (_, map) => assertUniqueKeys(map),
  });
  return document.toJS({ maxAliasCount: limits.aliases }) ?? {};
}

/** As the library would: scalars by their value. Each `<<` is a symbol of its own, so it may recur. */
function assertUniqueKeys(map: yaml.YAMLMap): void {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    if (yaml.isMap(key)) throw new Error('a mapping cannot be a key');
    const value = yaml.isScalar(key) ? key.value : key;
    if (seen.has(value)) {
      const pos = yaml.isNode(key) ? key.range : null;
      throw Object.assign(new Error('Map keys must be unique'), { pos });
    }
    seen.add(value);
  }
}

/** The value, if it is an object that JSON can hold. */
export function checkedObject(
  value: unknown,
  limits: Pick<YamlLimits, 'depth'>,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !isPlain(value)) {
    throw new Error(`Input type \`${typeNameOf(value)}\` is not a dictionary`);
  }
  assertJson(value, 0, limits.depth);
  return value;
}

function assertJson(value: unknown, depth: number, deepest: number): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Error('numbers must be finite');
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > deepest) throw new Error(`nested deeper than ${deepest} levels`);
  if (Array.isArray(value)) {
    for (const item of value) assertJson(item, depth + 1, deepest);
    return;
  }
  if (!isPlain(value)) {
    throw new Error(`values of type \`${typeNameOf(value)}\` are not compatible with JSON`);
  }
  for (const [key, item] of Object.entries(value)) {
    // Copied by assignment somewhere downstream, this key would change the prototype of the copy.
    if (key === '__proto__') throw new Error('the key "__proto__" is not allowed');
    assertJson(item, depth + 1, deepest);
  }
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? value.constructor.name : typeof value;
}

export function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'nested too deeply';
  return error instanceof Error ? error.message : String(error);
}

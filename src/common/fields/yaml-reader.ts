import * as yaml from 'yaml';
import { messageOf } from '../errors/errors.js';
import { ExactNumber, exactJson, parseExact } from '../exact-json.js';
import { CORE, implicitTag, scalarOf, textScalar, type YamlScalar } from './yaml-scalars.js';

export interface YamlLimits {
  /** Maximum number of aliases in one text, against "billion laughs" attacks. */
  aliases: number;
  /** Maximum nesting of the result. */
  depth: number;
  /** Maximum number of characters of the result as JSON. */
  length: number;
}

export interface YamlTask {
  texts: readonly string[];
  limits: YamlLimits;
}

/**
 * Text as JSON, or the reason why it is not an object that JSON can represent, with the index of the
 * error if known.
 */
export type YamlOutcome =
  { readonly json: string } | { readonly error: string; readonly index?: number | null };

/** Parses every text of a task. */
export function readAllYaml({ texts, limits }: YamlTask): YamlOutcome[] {
  return texts.map((text) => {
    try {
      const json = readYaml(text, limits);
      if (json.length > limits.length) throw new Error('the JSON is too long');
      return { json };
    } catch (error) {
      return { error: reasonOf(error), index: indexOf(error) };
    }
  });
}

/** Returns the index of an error in the text; null for errors of this module without an index. */
function indexOf(error: unknown): number | null {
  const range: unknown = error instanceof Error && 'pos' in error ? error.pos : null;
  const start: unknown = Array.isArray(range) ? range[0] : null;
  return typeof start === 'number' ? start : null;
}

/**
 * Returns the JSON text of the object that PyYAML's SafeLoader creates from a text, with the same
 * resolvers, merge keys and order of keys. The last value of a repeated key is used. The library parses the
 * syntax.
 */
function readYaml(text: string, limits: YamlLimits): string {
  // A lone carriage return and NEL are line breaks in YAML 1.1, but text for the library.
  const lines = text.replace(/\r(?!\n)|\u0085/g, '\n');
  const document = yaml.parseDocument(lines, {
    version: '1.1',
    schema: 'failsafe',
    logLevel: 'error',
    prettyErrors: false,
    strict: true,
    // The library compares each key with all previous keys, which is quadratic.
    uniqueKeys: false,
  });
  const [problem] = document.errors;
  if (problem) throw problem;
  return document.contents === null ? '{}' : new Constructor(lines, document, limits).root();
}

const MERGE = `${CORE}merge`;
const VALUE = `${CORE}value`;

/** Maximum number of pairs that merge keys can repeat in one text. */
const MAX_MERGED = 100_000;

type Pair = readonly [key: yaml.Node | null, value: yaml.Node | null];
type Pairs = readonly Pair[];

/** Converts the nodes of one document to JSON text, as PyYAML's constructors convert them to objects. */
class Constructor {
  private readonly targets = new Map<yaml.Node, yaml.Node>();
  private readonly jsonByNode = new Map<yaml.Node, string>();
  private readonly flattened = new Map<yaml.Node, Pairs>();
  private merged = 0;

  constructor(
    private readonly text: string,
    private readonly document: yaml.Document.Parsed,
    private readonly limits: YamlLimits,
  ) {
    this.resolveAliases();
  }

  root(): string {
    const root = this.target(this.document.contents);
    if (yaml.isMap(root)) return this.textOf(root, 0);
    const json = yaml.isSeq(root) ? '[]' : this.scalar(root).json;
    // An empty document has no variables.
    return json === 'null' ? '{}' : exactJson(checkedObject(parseExact(json), this.limits));
  }

  /** Resolves each alias to the last preceding node with its anchor. */
  private resolveAliases(): void {
    const anchors = new Map<string, yaml.Node>();
    yaml.visit(this.document, (_, node) => {
      if (yaml.isAlias(node)) {
        if (this.targets.size >= this.limits.aliases) throw tooManyAliases();
        const target = anchors.get(node.source);
        if (!target) throw errorAt(node, `Unresolved alias: ${node.source}`);
        this.targets.set(node, target);
        return;
      }
      if (!yaml.isNode(node) || node.anchor === undefined) return;
      const { anchor } = node;
      // The library accepts `&a:` and `*a:` as names with a colon.
      if (!/^[-\w]+$/.test(anchor)) throw errorAt(node, `Invalid anchor: ${anchor}`);
      if (anchors.has(anchor)) throw errorAt(node, `Duplicate anchor: ${anchor}`);
      anchors.set(anchor, node);
    });
  }

  private target(node: unknown): yaml.Node | null {
    if (!yaml.isNode(node)) return null;
    return this.targets.get(node) ?? node;
  }

  private textOf(value: unknown, depth: number): string {
    const node = this.target(value);
    if (!yaml.isCollection(node)) return this.scalar(node).json;
    if (depth > this.limits.depth)
      throw new Error(`nested deeper than ${this.limits.depth} levels`);
    const known = this.jsonByNode.get(node);
    if (known !== undefined) return known;
    const json = yaml.isMap(node) ? this.mapping(node, depth) : this.sequence(node, depth);
    // Only repeated aliases can expand a text to many times its length.
    if (json.length > this.limits.length) throw tooManyAliases();
    this.jsonByNode.set(node, json);
    return json;
  }

  private sequence(node: yaml.YAMLSeq, depth: number): string {
    assertTag(node, 'seq');
    return `[${node.items.map((item) => this.textOf(item, depth + 1)).join(',')}]`;
  }

  private mapping(node: yaml.YAMLMap, depth: number): string {
    assertTag(node, 'map');
    /**
     * Members by the key's value in Python. For keys that Python considers equal, the first key and the
     * last value are kept.
     */
    const members = new Map<string, { key: YamlScalar; json: string }>();
    for (const [keyNode, value] of this.pairs(node)) {
      const key = this.key(keyNode);
      const json = this.textOf(value, depth + 1);
      members.set(key.pythonKey, { key: members.get(key.pythonKey)?.key ?? key, json });
    }
    // Keys that differ in Python, such as `1` and `"1"`, can have the same name in JSON.
    const named = new Map([...members.values()].map(({ key, json }) => [nameOf(key), json]));
    return `{${[...named].map(([name, json]) => `${name}:${json}`).join(',')}}`;
  }

  /** Returns the pairs of a mapping. The pairs merged by `<<` come first. */
  private pairs(node: yaml.YAMLMap): Pairs {
    const known = this.flattened.get(node);
    if (known) return known;
    const direct: Pair[] = [];
    const merged: Pair[] = [];
    // A mapping that merges itself gets no pairs.
    this.flattened.set(node, []);
    for (const { key, value } of node.items) {
      const keyNode = this.target(key);
      if (this.tagOf(keyNode) === MERGE) merged.push(...this.mergedBy(this.target(value)));
      else direct.push([keyNode, this.target(value)]);
    }
    this.merged += merged.length;
    if (this.merged > MAX_MERGED) throw tooManyAliases();
    const pairs = [...merged, ...direct];
    this.flattened.set(node, pairs);
    return pairs;
  }

  private mergedBy(value: yaml.Node | null): Pairs {
    if (yaml.isMap(value)) return this.pairs(value);
    const maps = yaml.isSeq(value) ? value.items.map((item) => this.target(item)) : [value];
    // The first mapping of a list takes precedence, so it comes last.
    return maps.reverse().flatMap((map) => {
      if (!yaml.isMap(map))
        throw errorAt(value, 'only a mapping or a list of mappings can be merged');
      return this.pairs(map);
    });
  }

  private key(node: yaml.Node | null): YamlScalar {
    if (yaml.isMap(node)) throw errorAt(node, 'a mapping cannot be a key');
    if (yaml.isSeq(node)) throw errorAt(node, 'a list cannot be a key');
    const key = this.tagOf(node) === VALUE ? textScalar('=') : this.scalar(node);
    // If other code copies the object by assignment, this key changes the prototype of the copy.
    if (key.json === '"__proto__"') throw errorAt(node, 'the key "__proto__" is not allowed');
    return key;
  }

  private scalar(node: yaml.Node | null): YamlScalar {
    const text = this.textIn(node);
    try {
      return scalarOf(this.tagOf(node), text);
    } catch (error) {
      throw errorAt(node, reasonOf(error));
    }
  }

  private textIn(node: yaml.Node | null): string {
    if (!yaml.isScalar(node) || typeof node.value !== 'string') return '';
    const isBlock =
      node.type === yaml.Scalar.BLOCK_LITERAL || node.type === yaml.Scalar.BLOCK_FOLDED;
    // The library adds a line break to an unterminated last line.
    const isUnterminated =
      isBlock && /[^\n ] *$/.test(this.text) && node.range?.[1] === this.text.length;
    return isUnterminated ? node.value.replace(/\n$/, '') : node.value;
  }

  private tagOf(node: yaml.Node | null): string {
    if (!yaml.isScalar(node)) return node?.tag ?? implicitTag('');
    const { tag, type } = node;
    if (tag !== undefined && tag !== '!') return tag;
    const isPlain = type === undefined || type === yaml.Scalar.PLAIN || tag === '!';
    return isPlain ? implicitTag(this.textIn(node)) : `${CORE}str`;
  }
}

/** Returns the name of a member in JSON, as Python's `json.dumps` writes a key. */
const nameOf = ({ json }: YamlScalar): string => (json.startsWith('"') ? json : `"${json}"`);

function assertTag(node: yaml.Node, kind: 'map' | 'seq'): void {
  const { tag = '!' } = node;
  if (tag !== '!' && tag !== CORE + kind) throw errorAt(node, `Unresolved tag: ${tag}`);
}

const tooManyAliases = (): Error =>
  new Error('Excessive alias count indicates a resource exhaustion attack');

/** Returns an error with the position of a node in the text. */
const errorAt = (node: yaml.Node | null, message: string): Error =>
  Object.assign(new Error(message), { pos: node?.range });

/**
 * Returns the value if it is an object that JSON can represent.
 *
 * @throws Error otherwise
 */
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

function assertJson(value: unknown, depth: number, maxDepth: number): void {
  const isNumber = typeof value === 'number' || value instanceof ExactNumber;
  if (isNumber && !Number.isFinite(value.valueOf())) throw new Error('numbers must be finite');
  if (isNumber || typeof value !== 'object' || value === null) return;
  if (depth > maxDepth) throw new Error(`nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) {
    for (const item of value) assertJson(item, depth + 1, maxDepth);
    return;
  }
  if (!isPlain(value)) {
    throw new Error(`values of type \`${typeNameOf(value)}\` are not compatible with JSON`);
  }
  for (const [key, item] of Object.entries(value)) {
    // If other code copies the object by assignment, this key changes the prototype of the copy.
    if (key === '__proto__') throw new Error('the key "__proto__" is not allowed');
    assertJson(item, depth + 1, maxDepth);
  }
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (value instanceof ExactNumber) return 'number';
  return typeof value === 'object' ? value.constructor.name : typeof value;
}

export function reasonOf(error: unknown): string {
  return error instanceof RangeError ? 'nested too deeply' : messageOf(error);
}

import { pythonFloat } from '../../common/fields/yaml-scalars.js';
import { printedLength } from '../../common/jinja.js';
import type { EngineValue, TreeNode } from './sandbox-task.js';

/**
 * Evaluates a literal node. This is the only way to create values of the engine, which does not
 * export its classes.
 */
type EvaluateLiteral = (node: TreeNode) => EngineValue;

/** Maximum length of a text at any point of an evaluation, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 262_144;

/**
 * Checks the length of a text before the text is created.
 *
 * @throws Error
 */
export function requireLength(length: number): void {
  if (length > MAX_TEXT_LENGTH) throw new Error('the text is too long');
}

/** Checks the length of the printed text of a value; see `requireLength`. */
export const requirePrintable = (value: EngineValue, indent = 0): void =>
  requireLength(printedLength(value, MAX_TEXT_LENGTH, indent));

export class ValueFactory {
  /** @param missing creates the value of an unknown variable, which strict evaluation rejects */
  constructor(
    private readonly evaluate: EvaluateLiteral,
    readonly missing: () => EngineValue,
  ) {}

  readonly text = (value: string): EngineValue => this.evaluate({ type: 'StringLiteral', value });
  readonly integer = (value: number): EngineValue =>
    this.evaluate({ type: 'IntegerLiteral', value });
  readonly float = (value: number): EngineValue => this.evaluate({ type: 'FloatLiteral', value });
  readonly list = (items: readonly EngineValue[]): EngineValue =>
    this.evaluate({ type: 'ArrayLiteral', value: items.map(nodeOf) });
  readonly tuple = (items: readonly EngineValue[]): EngineValue =>
    this.evaluate({ type: 'TupleLiteral', value: items.map(nodeOf) });
  readonly boolean = (value: boolean): EngineValue =>
    this.evaluate({ type: 'Identifier', value: value ? 'true' : 'false' });
}

/** Returns a node for an already evaluated value. */
export const nodeOf = (engineValue: EngineValue): TreeNode => ({
  type: 'EngineValue',
  engineValue,
});

export const isJinjaList = (value: unknown): value is EngineValue[] => Array.isArray(value);

export const isNone = ({ type }: EngineValue): boolean => type === 'NullValue';

export const isMissing = ({ type }: EngineValue): boolean => type === 'UndefinedValue';

/** Returns the members of a dictionary; null for other values. */
export function jinjaEntriesOf({ value }: EngineValue): [string, EngineValue][] | null {
  return isDictionary(value) ? [...value] : null;
}

const isDictionary = (value: unknown): value is Map<string, EngineValue> => value instanceof Map;

/**
 * Returns the number of a number or boolean.
 *
 * @throws Error for other values
 */
export function numberOf({ value, type }: EngineValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  throw new Error(`a number is needed, not ${type}`);
}

/** Returns the text of a value as Python's `str` does; undefined is an empty text. */
export function jinjaTextOf(value: EngineValue): string {
  if (typeof value.value === 'string') return value.value;
  return isMissing(value) ? '' : reprOf(value);
}

/**
 * Returns the text of a value as Python's `repr` does.
 *
 * @throws Error if the text is too long
 */
export function reprOf(value: EngineValue): string {
  requirePrintable(value);
  return written(value);
}

function written(value: EngineValue): string {
  const content = value.value;
  if (isNone(value)) return 'None';
  if (typeof content === 'boolean') return content ? 'True' : 'False';
  if (typeof content === 'number') return numberText(value);
  if (typeof content === 'string') return quoted(content);
  if (isJinjaList(content)) {
    const items = content.map(written).join(', ');
    if (value.type !== 'TupleValue') return `[${items}]`;
    return content.length === 1 ? `(${items},)` : `(${items})`;
  }
  const members = jinjaEntriesOf(value)?.map(([key, item]) => `${quoted(key)}: ${written(item)}`);
  return members ? `{${members.join(', ')}}` : String(value);
}

/** Returns the text of a number as Python writes it: `2.0`, `1e-05`, `1e+16`. */
export function numberText({ type, value }: EngineValue): string {
  const number = Number(value);
  if (type !== 'FloatValue') return String(value);
  if (!Number.isFinite(number)) return Number.isNaN(number) ? 'nan' : number > 0 ? 'inf' : '-inf';
  return pythonFloat(number);
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\\p{Cc}]|'/gu, (character) => {
    if (character === "'") return quote === "'" ? "\\'" : character;
    if (character === '\\') return '\\\\';
    const code = character.charCodeAt(0).toString(16).padStart(2, '0');
    return ESCAPES[character] ?? `\\x${code}`;
  });
  return `${quote}${escaped}${quote}`;
}

/**
 * Returns true if two values are equal as in Python: by content, and 1 is equal to 1.0 and true.
 */
export function areEqual(left: EngineValue, right: EngineValue): boolean {
  const [a, b] = [left.value, right.value];
  if (isJinjaList(a) && isJinjaList(b)) {
    if (left.type !== right.type || a.length !== b.length) return false;
    return a.every((item, index) => areEqual(item, b[index] ?? item));
  }
  if (isDictionary(a) && isDictionary(b)) {
    if (a.size !== b.size) return false;
    return [...a].every(([key, item]) => {
      const other = b.get(key);
      return other !== undefined && areEqual(item, other);
    });
  }
  const plain = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value);
  return plain(a) === plain(b);
}

/**
 * Rounds a number to a number of decimal places as Python does: exact ties go to the even digit.
 * JavaScript also rounds exact values, but ties away from zero.
 */
export function roundHalfEven(number: number, digits: number): string {
  const rounded = fixed(number, digits);
  const remainder =
    fixed(number, Math.min(digits + 60, 100))
      .split('.')[1]
      ?.slice(digits) ?? '';
  const isTie = /^50*$/.test(remainder);
  const isOdd = /[13579]$/.test(rounded);
  if (!isTie || !isOdd) return rounded;
  // The tie was rounded away from zero to an odd digit: the even digit is one step closer to zero.
  return rounded.replace(/\d$/, (digit) => String(Number(digit) - 1));
}

/** Returns `toFixed` for numbers of any size. */
function fixed(number: number, digits: number): string {
  if (Math.abs(number) < 1e21) return number.toFixed(digits);
  return `${BigInt(number)}${digits > 0 ? `.${'0'.repeat(digits)}` : ''}`;
}

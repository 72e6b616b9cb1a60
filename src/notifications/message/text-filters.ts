import { sizeOf, type Filter, type FilterArguments } from './filter-arguments.js';
import {
  jinjaEntriesOf,
  isJinjaList,
  isMissing,
  isNone,
  numberOf,
  numberText,
  requireLength,
  requirePrintable,
  roundHalfEven,
  jinjaTextOf,
  type ValueFactory,
} from './jinja-values.js';
import { printf } from './printf.js';
import type { EngineValue } from './sandbox-task.js';

/** Filters of Jinja 3.1 for texts and numbers. */
export const TEXT_FILTERS: Readonly<Record<string, Filter>> = {
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  capitalize: onText(capitalized),
  title: onText((text) =>
    text
      .split(/([-\s({[<]+)/)
      .map(capitalized)
      .join(''),
  ),
  trim: onText((text, args) => trimmed(text, args.value(0, 'chars'))),
  replace: onText(replaced),
  center: onText(centered),
  truncate: onText(truncated),
  indent: onText(indented),
  string: onText((text) => text),
  format: (value, args, make) => make.text(printf(jinjaTextOf(value), operandOf(args, make))),
  wordcount: (value, _args, make) =>
    make.integer(jinjaTextOf(value).match(/[\p{L}\p{N}\p{M}_]+/gu)?.length ?? 0),
  urlencode: (value, _args, make) => make.text(urlEncoded(value)),
  filesizeformat: (value, args, make) => make.text(fileSize(value, args.flag(0, 'binary'))),
  tojson: (value, args, make) => make.text(htmlSafeJson(value, args.number(0, 'indent', 0))),

  int: (value, args, make) => make.integer(wholeNumber(value, args)),
  float: (value, args, make) => make.float(floatOf(value) ?? args.number(0, 'default', 0)),
  round: rounded,
  abs: (value, _args, make) => like(value, Math.abs(numberOf(value)), make),
};

/** Creates a filter that changes the text of any value. */
function onText(change: (text: string, args: FilterArguments) => string): Filter {
  return (value, args, make) => make.text(change(jinjaTextOf(value), args));
}

function capitalized(text: string): string {
  const [first = '', ...rest] = text;
  return first.toUpperCase() + rest.join('').toLowerCase();
}

function trimmed(text: string, chars: EngineValue | undefined): string {
  if (!chars || isNone(chars)) return text.trim();
  const dropped = new Set(jinjaTextOf(chars));
  const characters = [...text];
  const start = characters.findIndex((character) => !dropped.has(character));
  const end = characters.findLastIndex((character) => !dropped.has(character));
  return start < 0 ? '' : characters.slice(start, end + 1).join('');
}

function replaced(text: string, args: FilterArguments): string {
  const [from, to] = [args.text(0, 'old', ''), args.text(1, 'new', '')];
  const count = args.value(2, 'count');
  const parts = text.split(from);
  const limit = !count || isNone(count) ? parts.length : numberOf(count);
  requireLength(text.length + Math.min(limit, parts.length - 1) * (to.length - from.length));
  if (limit >= parts.length - 1) return parts.join(to);
  return [parts.slice(0, limit + 1).join(to), ...parts.slice(limit + 1)].join(from);
}

function centered(text: string, args: FilterArguments): string {
  const width = sizeOf(args.number(0, 'width', 80));
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  const left = Math.floor(missing / 2) + (missing & width & 1);
  return ' '.repeat(left) + text + ' '.repeat(missing - left);
}

function truncated(text: string, args: FilterArguments): string {
  const length = args.number(0, 'length', 255);
  const end = args.text(2, 'end', '...');
  const leeway = args.value(3, 'leeway');
  const characters = [...text];
  const prefixLength = length - [...end].length;
  if (prefixLength < 0) throw new Error(`truncate needs a length of at least ${[...end].length}`);
  if (characters.length <= length + (leeway && !isNone(leeway) ? numberOf(leeway) : 5)) {
    return text;
  }
  const cut = characters.slice(0, prefixLength).join('');
  const space = args.flag(1, 'killwords') ? -1 : cut.lastIndexOf(' ');
  return (space < 0 ? cut : cut.slice(0, space)) + end;
}

function indented(text: string, args: FilterArguments): string {
  const width = args.value(0, 'width');
  const isText = typeof width?.value === 'string';
  const indent = isText ? jinjaTextOf(width) : ' '.repeat(sizeOf(args.number(0, 'width', 4), 0));
  const lines = text.split(/\r\n|[\n\r]/);
  const [withFirst, withBlank] = [args.flag(1, 'first'), args.flag(2, 'blank')];
  const isIndented = (line: string, index: number): boolean =>
    index === 0 ? withFirst : line !== '' || withBlank;
  requireLength(text.length + lines.filter(isIndented).length * indent.length);
  return lines.map((line, index) => (isIndented(line, index) ? indent + line : line)).join('\n');
}

/** Returns the operand of `format % operand` for the arguments of the filter `format`. */
function operandOf(args: FilterArguments, make: ValueFactory): EngineValue {
  if (args.named.size === 0) return make.tuple(args.positional);
  if (args.positional.length > 0) {
    throw new Error("can't handle positional and keyword arguments at the same time");
  }
  return { type: 'ObjectValue', value: args.named };
}

function urlEncoded(value: EngineValue): string {
  requirePrintable(value);
  const pairs = jinjaEntriesOf(value)?.map(([key, item]) => [key, jinjaTextOf(item)]) ?? null;
  const list = isJinjaList(value.value) ? value.value.map(pairIn) : null;
  const query = pairs ?? list;
  if (!query) return percentEncoded(jinjaTextOf(value)).replaceAll('%2F', '/');
  const part = (text = ''): string => percentEncoded(text).replaceAll('%20', '+');
  return query.map(([key, item]) => `${part(key)}=${part(item)}`).join('&');
}

function pairIn({ value }: EngineValue): string[] {
  if (!isJinjaList(value) || value.length !== 2) throw new Error('urlencode needs pairs');
  return value.map(jinjaTextOf);
}

/**
 * Returns the percent-encoding of RFC 3986, which encodes five more characters than
 * `encodeURIComponent`.
 */
const percentEncoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const UNITS = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

function fileSize(value: EngineValue, isBinary: boolean): string {
  const bytes = floatOf(value);
  if (bytes === null) throw new Error('filesizeformat needs a number');
  const base = isBinary ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const index = UNITS.findIndex((_unit, power) => bytes < base ** (power + 2));
  const power = index < 0 ? UNITS.length - 1 : index;
  const unit = UNITS[power] ?? '';
  const size = roundHalfEven((base * bytes) / base ** (power + 2), 1);
  return `${size} ${isBinary ? `${unit.toUpperCase()}i` : unit}B`;
}

/** Returns JSON with sorted keys that is safe inside HTML, as Jinja's `tojson` writes it. */
function htmlSafeJson(value: EngineValue, indent: number): string {
  requirePrintable(value, sizeOf(indent, 0));
  return jsonOf(value, ' '.repeat(indent), '\n').replace(
    /[<>&'\u007F-\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Returns a value as JSON with sorted keys.
 *
 * @throws Error for undefined and functions
 */
export function jsonOf(value: EngineValue, indent = '', lineEnd = ''): string {
  const inner = lineEnd + indent;
  const joined = (open: string, items: string[], close: string): string => {
    if (items.length === 0 || !indent) return open + items.join(', ') + close;
    return open + inner + items.join(`,${inner}`) + lineEnd + close;
  };
  if (isJinjaList(value.value)) {
    return joined(
      '[',
      value.value.map((item) => jsonOf(item, indent, inner)),
      ']',
    );
  }
  const members = jinjaEntriesOf(value)?.sort(([a], [b]) => (a < b ? -1 : 1));
  if (members) {
    const write = ([key, item]: [string, EngineValue]): string =>
      `${JSON.stringify(key)}: ${jsonOf(item, indent, inner)}`;
    return joined('{', members.map(write), '}');
  }
  if (isMissing(value) || typeof value.value === 'function') {
    throw new Error('Object of type Undefined is not JSON serializable');
  }
  if (isNone(value)) return 'null';
  return typeof value.value === 'number' ? numberText(value) : JSON.stringify(value.value);
}

/** Parses a number as Python's `float` does; returns null for texts that `float` rejects. */
function floatOf({ value }: EngineValue): number | null {
  if (typeof value === 'number' || typeof value === 'boolean') return Number(value);
  const text = typeof value === 'string' ? value.trim() : '';
  return /^[+-]?(\d+(_\d+)*(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)
    ? Number(text.replaceAll('_', ''))
    : null;
}

const PREFIXES: Readonly<Record<number, RegExp>> = { 2: /^0b/i, 8: /^0o/i, 16: /^0x/i };

function wholeNumber(value: EngineValue, args: FilterArguments): number {
  const base = args.number(1, 'base', 10);
  if (typeof value.value === 'string' && base !== 10) {
    const digits = value.value.trim().replace(PREFIXES[base] ?? '', '');
    const number = /^[0-9a-z]+$/i.test(digits) ? parseInt(digits, base) : NaN;
    return Number.isNaN(number) ? args.number(0, 'default', 0) : number;
  }
  const number = floatOf(value);
  return number === null ? args.number(0, 'default', 0) : Math.trunc(number);
}

function rounded(value: EngineValue, args: FilterArguments, make: ValueFactory): EngineValue {
  const number = numberOf(value);
  const precision = args.number(0, 'precision', 0);
  if (precision < 0 || precision > 20) throw new Error('round takes a precision of 0 to 20');
  const method = args.text(1, 'method', 'common');
  if (method === 'common') {
    const result = Number(roundHalfEven(number, precision));
    return like(value, result, make);
  }
  if (method !== 'ceil' && method !== 'floor')
    throw new Error('method must be common, ceil or floor');
  return make.float(Math[method](number * 10 ** precision) / 10 ** precision);
}

/** Creates a number of the same kind as another value. */
const like = ({ type }: EngineValue, number: number, make: ValueFactory): EngineValue =>
  type === 'FloatValue' ? make.float(number) : make.integer(number);

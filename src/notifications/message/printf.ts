import {
  isJinjaList,
  jinjaEntriesOf,
  numberOf,
  reprOf,
  requireLength,
  roundHalfEven,
  jinjaTextOf,
} from './jinja-values.js';
import type { EngineValue } from './sandbox-task.js';

const CONVERSION = /%(?:\(([^)]*)\))?([-+ 0#]*)(\d*)(?:\.(\d*))?(.)/gsu;

/** Maximum width and precision, in characters. */
const MAX_WIDTH = 1_000;
const MAX_PRECISION = 100;

interface Conversion {
  readonly kind: string;
  readonly flags: string;
  readonly width: number;
  readonly precision: number | null;
}

/**
 * Formats `format % operand` as Python does: the operand is a tuple of values, a dictionary for
 * `%(key)s`, or one value.
 *
 * @throws Error for unknown or incomplete conversions, widths over 1,000, precisions over 100, and missing,
 *   superfluous or unsuitable values
 */
export function printf(format: string, operand: EngineValue): string {
  const members = jinjaEntriesOf(operand);
  const isTuple = operand.type === 'TupleValue' && isJinjaList(operand.value);
  const values = isTuple && isJinjaList(operand.value) ? [...operand.value] : [operand];
  type Groups = [string | undefined, string, string, string | undefined, string];
  let length = 0;
  const counted = (part: string): string => {
    requireLength((length += part.length));
    return part;
  };
  const text = format.replace(CONVERSION, (match, ...[key, ...rest]: Groups) => {
    const conversion = conversionOf(...rest);
    if (conversion.kind === '%') return '%';
    if (key === undefined) return counted(converted(values.shift(), conversion));
    const member = members?.find(([name]) => name === key)?.[1];
    if (!member) throw new Error(`format needs a dictionary with '${key}' for ${match}`);
    return counted(converted(member, conversion));
  });
  const isUnfinished = format.replace(CONVERSION, '').includes('%');
  if (isUnfinished) throw new Error('incomplete format');
  if (values.length > 0 && !members && (isTuple || text === format || !format.includes('%'))) {
    throw new Error('not all arguments converted during string formatting');
  }
  return text;
}

function conversionOf(
  flags: string,
  width: string,
  precision: string | undefined,
  kind: string,
): Conversion {
  const conversion = {
    kind,
    flags,
    width: Number(width),
    precision: precision === undefined ? null : Number(precision),
  };
  if (conversion.width > MAX_WIDTH || (conversion.precision ?? 0) > MAX_PRECISION) {
    throw new Error(`a format has at most ${MAX_WIDTH} characters and ${MAX_PRECISION} digits`);
  }
  return conversion;
}

function converted(value: EngineValue | undefined, conversion: Conversion): string {
  if (!value) throw new Error('not enough arguments for format string');
  const { kind, precision } = conversion;
  switch (kind) {
    case 's':
      return padded(jinjaTextOf(value).slice(0, precision ?? undefined), conversion);
    case 'r':
    case 'a':
      return padded(reprOf(value).slice(0, precision ?? undefined), conversion);
    case 'c':
      return padded(characterOf(value), conversion);
    case 'd':
    case 'i':
    case 'u':
      return signed(wholeOf(value, true), conversion, (number) => number.toString());
    case 'x':
      return signed(wholeOf(value), conversion, (number) => number.toString(16), '0x');
    case 'X':
      return signed(
        wholeOf(value),
        conversion,
        (number) => number.toString(16).toUpperCase(),
        '0X',
      );
    case 'o':
      return signed(wholeOf(value), conversion, (number) => number.toString(8), '0o');
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return signed(numberOf(value), conversion, (number) => floating(number, conversion));
    default:
      throw new Error(`unsupported format character '${kind}'`);
  }
}

function characterOf(value: EngineValue): string {
  const text =
    typeof value.value === 'number' ? String.fromCodePoint(value.value) : jinjaTextOf(value);
  if ([...text].length !== 1) throw new Error('%c needs one character');
  return text;
}

function wholeOf(value: EngineValue, isTruncated = false): number {
  const number = numberOf(value);
  if (!isTruncated && !Number.isInteger(number)) throw new Error('a whole number is needed');
  return Math.trunc(number);
}

/** Writes sign, prefix and digits, including zeros between sign and digits. */
function signed(
  number: number,
  conversion: Conversion,
  write: (absolute: number) => string,
  prefix = '',
): string {
  const { flags, width, precision, kind } = conversion;
  const isNegative = number < 0 || Object.is(number, -0);
  const sign = isNegative && kind !== 'd' ? '-' : number < 0 ? '-' : plus(flags);
  const start = `${sign}${flags.includes('#') ? prefix : ''}`;
  const isWhole = /[diuxXo]/.test(kind);
  const digits = write(Math.abs(number)).padStart(isWhole ? (precision ?? 0) : 0, '0');
  const isFilled = flags.includes('0') && !flags.includes('-');
  return padded(
    start + (isFilled ? digits.padStart(width - start.length, '0') : digits),
    conversion,
  );
}

const plus = (flags: string): string =>
  flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';

function floating(number: number, { kind, precision }: Conversion): string {
  const places = precision ?? 6;
  const lower = kind.toLowerCase();
  if (!Number.isFinite(number)) return Number.isNaN(number) ? 'nan' : 'inf';
  if (lower === 'f') return roundHalfEven(number, places);
  const text = lower === 'e' ? exponential(number, places) : general(number, Math.max(places, 1));
  return kind === lower ? text : text.toUpperCase();
}

const exponential = (number: number, places: number): string =>
  number.toExponential(places).replace(/e([+-])(\d)$/, 'e$10$2');

function general(number: number, precision: number): string {
  const written = exponential(number, precision - 1);
  const exponent = Number(written.split('e')[1]);
  const isShort = exponent >= -4 && exponent < precision;
  const [mantissa = '', power] = isShort
    ? [roundHalfEven(number, precision - 1 - exponent)]
    : written.split('e');
  const digits = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return power === undefined ? digits : `${digits}e${power}`;
}

const padded = (text: string, { flags, width }: Conversion): string =>
  flags.includes('-') ? text.padEnd(width) : text.padStart(width);

import { keysOf } from '../records.js';

/** Prefix of YAML 1.1 tags. */
export const CORE = 'tag:yaml.org,2002:';

/** Maximum number of digits of an integer in Python's conversions from and to text. */
const MAX_DIGITS = 4300;

/** Scalar as JSON text. Scalars that are equal keys in Python, `1` and `true`, have one `pythonKey`. */
export interface YamlScalar {
  readonly json: string;
  readonly pythonKey: string;
}

/**
 * Implicit resolvers of PyYAML's SafeLoader (`yaml/resolver.py`), in its order. A plain scalar that
 * matches none is text.
 */
const RESOLVERS = {
  bool: /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  float:
    /^(?:[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\.\d[\d_]*(?:[eE][-+]\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  int: /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][\d_]*)|[-+]?0x[\da-fA-F_]+|[-+]?[1-9][\d_]*(?::[0-5]?\d)+)$/,
  merge: /^<<$/,
  null: /^(?:~|null|Null|NULL|)$/,
  timestamp:
    /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/,
  value: /^=$/,
};

/** First characters of plain scalars that are not text. */
const FIRST = /^[-+.~<=\dyYnNtTfFoO]/;

/** Returns the tag that PyYAML assigns to a scalar without an explicit tag. */
export function implicitTag(text: string): string {
  if (text !== '' && !FIRST.test(text)) return `${CORE}str`;
  return CORE + (keysOf(RESOLVERS).find((tag) => RESOLVERS[tag].test(text)) ?? 'str');
}

/**
 * Constructs a scalar as PyYAML's SafeLoader does (`yaml/constructor.py`).
 *
 * @throws Error if PyYAML rejects the text, or JSON cannot represent the value
 */
export function scalarOf(tag: string, text: string): YamlScalar {
  switch (tag) {
    case `${CORE}str`:
      return textScalar(text);
    case `${CORE}null`:
      return { json: 'null', pythonKey: 'null' };
    case `${CORE}bool`:
      return booleanOf(text);
    case `${CORE}int`:
      return integerScalar(bigintOf(text));
    case `${CORE}float`:
      return floatScalar(floatOf(text));
    case `${CORE}timestamp`:
      throw new Error(
        `the date ${text} is not compatible with JSON; write it in quotes for the text`,
      );
    case `${CORE}merge`:
    case `${CORE}value`:
      throw new Error(`"${text}" has no meaning here; write it in quotes for the text`);
    default:
      throw new Error(`Unresolved tag: ${tag}`);
  }
}

export const textScalar = (text: string): YamlScalar => ({
  json: JSON.stringify(text),
  pythonKey: JSON.stringify(text),
});

function booleanOf(text: string): YamlScalar {
  const value = RESOLVERS.bool.test(text) ? /^(?:yes|true|on)$/i.test(text) : invalid(text);
  return { json: String(value), pythonKey: value ? '1' : '0' };
}

const integerScalar = (value: bigint): YamlScalar => ({
  json: String(value),
  pythonKey: String(value),
});

function bigintOf(text: string): bigint {
  const [, sign, digits = ''] = /^([-+]?)(.*)$/s.exec(text.replaceAll('_', '')) ?? [];
  if (digits.length > MAX_DIGITS) throw new Error(`integers have at most ${MAX_DIGITS} digits`);
  const value = magnitudeOf(digits) ?? invalid(text);
  return sign === '-' ? -value : value;
}

function magnitudeOf(digits: string): bigint | null {
  if (/^0(?:b[01]+|x[\da-fA-F]+)$/.test(digits)) return BigInt(digits);
  if (digits.startsWith('0')) {
    const [, octal] = /^0[oO]?([0-7]*)$/.exec(digits) ?? [];
    return octal === undefined ? null : BigInt(`0o0${octal}`);
  }
  if (!/^\d+(?::\d+)*$/.test(digits)) return null;
  return digits.split(':').reduce((sum, part) => sum * 60n + BigInt(part), 0n);
}

function floatOf(text: string): number {
  const [, sign, digits = ''] = /^([-+]?)(.*)$/s.exec(text.replaceAll('_', '')) ?? [];
  if (/^\.(?:inf|nan)$/i.test(digits)) throw new Error('numbers must be finite');
  if (!/^(?:\d+(?::\d+)*\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(digits)) invalid(text);
  const value = sexagesimal(digits.split(':').map(Number));
  if (!Number.isFinite(value)) throw new Error('numbers must be finite');
  return sign === '-' ? -value : value;
}

/** Adds from the last part to the first, as PyYAML does: floating-point sums depend on the order. */
function sexagesimal(parts: readonly number[]): number {
  let base = 1;
  let value = 0;
  for (const part of [...parts].reverse()) {
    value += part * base;
    base *= 60;
  }
  return value;
}

function floatScalar(value: number): YamlScalar {
  const json = pythonFloat(value);
  return { json, pythonKey: Number.isInteger(value) ? String(BigInt(value)) : json };
}

/** Returns a finite number as Python's `repr` writes a float: `1.0`, `1e+16`, `1e-05`. */
export function pythonFloat(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const [, sign = '', digits = '', fraction = '', power = '0'] =
    /^(-?)(\d)(?:\.(\d+))?e([-+]\d+)$/.exec(value.toExponential()) ?? [];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const mantissa = fraction === '' ? digits : `${digits}.${fraction}`;
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

function invalid(text: string): never {
  throw new Error(`${JSON.stringify(text)} is not a value of its tag`);
}

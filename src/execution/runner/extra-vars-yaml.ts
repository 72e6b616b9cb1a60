import { ExactNumber, entriesOf } from '../../common/exact-json.js';
import { isRecord } from '../../common/records.js';
import { storableText } from '../../common/fields/text.js';
import { MAX_JSON_DEPTH } from './clean-text.js';

/** Characters that YAML readers refuse, or read as line ends, if they are unescaped in quotes. */
const ESCAPED = /[\u0000-\u001F\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g;

/**
 * Texts that YAML 1.1 reads as another type if they are not quoted. Ansible 2.19 and later
 * does the same after `!unsafe` in spite of the quotes: `!unsafe "007"` is the number 7.
 */
const OTHER_TYPE =
  /^(?:[!&*~=]|<<|null|true|false|yes|no|on|off|[-+]?\.(?:inf|nan)|[-+.\d][-+.:_\da-fxtz \t]*)?$/i;

/**
 * Writes variables as YAML for `-e @file`.
 *
 * The texts below a key of `unsafeKeys` are tagged `!unsafe`, so that Ansible evaluates neither
 * `{{ ... }}` nor conditions in them (docs/contract/launching.md#variables), except for texts such as
 * `007`, which have nothing to evaluate. The document is YAML and not JSON even
 * if no key is unsafe, because Ansible's JSON reader interprets keys such as `__ansible_vault`.
 */
export function toExtraVarsYaml(
  variables: Readonly<Record<string, unknown>>,
  unsafeKeys: ReadonlySet<string>,
): string {
  const lines = entriesOf(variables)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        `? ${quote(key)}\n: ${emit(value, unsafeKeys.has(key) ? '!unsafe ' : '', 0)}`,
    );
  return lines.length === 0 ? '---\n{}\n' : `---\n${lines.join('\n')}\n`;
}

function emit(value: unknown, tag: string, depth: number): string {
  if (typeof value === 'string') return emitText(value, tag);
  if (typeof value === 'number') return emitNumber(value);
  if (value instanceof ExactNumber) return yamlNumber(value.text);
  if (typeof value === 'boolean') return String(value);
  if (depth >= MAX_JSON_DEPTH) return 'null';
  if (Array.isArray(value)) {
    return `[${value.map((item) => emit(item, tag, depth + 1)).join(', ')}]`;
  }
  if (!isRecord(value)) return 'null';
  // The explicit `?` form has no limit on the length of a key; the plain form is limited to 1,024
  // characters.
  const pairs = entriesOf(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `? ${emitText(key, tag)} : ${emit(item, tag, depth + 1)}`);
  return `{${pairs.join(', ')}}`;
}

const emitText = (text: string, tag: string): string =>
  (OTHER_TYPE.test(text) ? '' : tag) + quote(text);

function emitNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  return yamlNumber(String(value));
}

/** Writes a number for YAML 1.1, in which an exponent requires a decimal point and a sign. */
function yamlNumber(json: string): string {
  const [, mantissa = json, sign = '', power] = /^(.*?)[eE]([-+]?)(\d+)$/.exec(json) ?? [];
  if (power === undefined) return json;
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}e${sign === '-' ? '-' : '+'}${power}`;
}

function quote(text: string): string {
  const json = JSON.stringify(storableText(text));
  return json.replace(ESCAPED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

import * as jinja from '@huggingface/jinja';

/**
 * Returns the template engine with the type that the caller declares. The package's own declarations
 * import without file extensions, which do not resolve under `nodenext`.
 */
export const jinjaAs = <Engine>(): Engine => jinja as Engine;

/** Maximum length of a text that the engine creates, in UTF-16 units. Messages have a lower limit. */
export const MAX_ENGINE_TEXT = 1_048_576;

/** Maximum number of parts that `split` creates. One part takes about 70 bytes. */
const MAX_PARTS = 100_000;

interface EngineValue {
  readonly value: unknown;
}

interface EngineText {
  readonly value: string;
  readonly builtins: ReadonlyMap<
    string,
    { value: (args: EngineValue[], scope: unknown) => unknown }
  >;
}

interface TextEngine {
  readonly Environment: new () => { set(name: string, text: string): EngineText };
}

limitMethods(jinjaAs<TextEngine>());

/**
 * Lets `replace` and `split` of all texts, as method and as filter of the engine, check the size of the
 * result before it is created: an allocation that is larger than the memory of its thread aborts the
 * whole process.
 */
function limitMethods({ Environment }: TextEngine): void {
  const prototype = Reflect.getPrototypeOf(new Environment().set('text', '')) ?? {};
  const read: ((this: EngineText) => EngineText['builtins']) | undefined =
    Reflect.getOwnPropertyDescriptor(prototype, 'builtins')?.get;
  if (!read) throw new Error('the texts of the template engine have no `builtins`');
  Object.defineProperty(prototype, 'builtins', {
    get(this: EngineText): unknown {
      const methods = read.call(this);
      const limit = (name: string, isAllowed: (...args: unknown[]) => boolean): void => {
        const method = methods.get(name);
        if (!method) return;
        const call = method.value;
        method.value = (args, scope) => {
          if (isAllowed(...args.map(({ value }) => value))) return call(args, scope);
          throw new Error('the text is too long');
        };
      };
      limit('replace', (from, to) => {
        const added = typeof to === 'string' ? countOf(this.value, from) * to.length : 0;
        return this.value.length + added <= MAX_ENGINE_TEXT;
      });
      limit('split', (separator) => countOf(this.value, separator) < MAX_PARTS);
      Object.defineProperty(this, 'builtins', { value: methods });
      return methods;
    },
  });
}

/** Returns how often a text contains a part; without a part, its number of runs of white space. */
function countOf(text: string, part: unknown): number {
  if (part === '') return text.length + 1;
  if (typeof part !== 'string') return text.match(/\s+/g)?.length ?? 0;
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

const isContainer = (value: unknown): value is EngineValue[] | Map<string, EngineValue> =>
  Array.isArray(value) || value instanceof Map;

/**
 * Returns the approximate length of the printed text of a value, or a number above `limit` for longer
 * texts: values can share parts, so a text can be exponentially longer than its template.
 *
 * @param indent characters per item and level, in addition to the item's own
 */
export function printedLength(
  { value }: EngineValue,
  limit: number,
  indent = 0,
  depth = 1,
): number {
  if (typeof value === 'string') return value.length;
  let length = 1;
  if (!isContainer(value)) return length;
  for (const [key, item] of value.entries()) {
    length += 1 + depth * indent + (typeof key === 'string' ? key.length : 0);
    length += printedLength(item, limit - length, indent, depth + 1);
    if (length > limit) break;
  }
  return length;
}

const RAW_BLOCK = /\{%(-?)\+?\s*raw\s*(-?)%\}([^]*?)\{%(-?)\+?\s*endraw\s*(-?)%\}/g;

/**
 * Replaces `raw` blocks, which the engine does not support, by expressions with a text literal, which
 * print the same text.
 */
export function withoutRawBlocks(template: string): string {
  const literal = (...[, before, first, body, last, after]: string[]): string => {
    const start = first ? body?.trimStart() : body;
    const text = (last ? start?.trimEnd() : start) ?? '';
    return `{{${before} "${text.replace(/[\\"]/g, '\\$&')}" ${after}}}`;
  };
  return template.replace(RAW_BLOCK, literal);
}

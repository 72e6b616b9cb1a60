import { Unavailable } from '../errors/errors.js';
import { itemAt, zip } from '../invariants.js';
import { parseRecord } from '../records.js';
import { Thread, ThreadBusy, threadFile } from '../thread.js';
import { Yielder } from '../yielder.js';
import { MAX_VALUES, parseJson } from './json-bounds.js';
import { isStorableJson, MAX_DEPTH } from './text.js';
import {
  checkedObject,
  readAllYaml,
  reasonOf,
  type YamlOutcome,
  type YamlTask,
} from './yaml-reader.js';

/** Maximum number of characters of variables in a request, as JSON and as YAML. */
const MAX_JSON_LENGTH = 1_048_576;
const MAX_YAML_LENGTH = 65_536;
/**
 * Maximum number of names in texts above the YAML limit. Each name slows down every step of a launch; the
 * length of values has little effect.
 */
const MAX_NAMES = 10_000;
/** Escape sequences of JSON that can stand for text that cannot be stored. */
const ESCAPED = /\\u(?:0000|d[89a-f])/i;

const LIMITS = { aliases: 100, depth: MAX_DEPTH, length: MAX_JSON_LENGTH };

/**
 * Maximum number of YAML characters parsed on the main thread. Longer texts would block the event loop.
 */
const MAX_IN_PLACE = 2048;

const reader = new Thread<YamlTask, YamlOutcome[]>({
  file: threadFile('yaml'),
  // Parsing a text of the maximum size takes 200 ms.
  timeoutMs: 5000,
  maxWaiting: 16,
  resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 },
});

/**
 * Error for a text that is neither a JSON nor a YAML object, or is too long. The contract defines the
 * message (docs/contract/conventions.md#variables).
 */
export class VariablesError extends Error {
  override readonly name = 'VariablesError';

  /**
   * @param reason error of the text as YAML, of which JSON is a subset
   * @param index index of the first invalid character; null if unknown
   */
  constructor(
    message: string,
    readonly reason = message,
    readonly index: number | null = null,
  ) {
    super(message);
  }
}

/** Results of YAML texts that were parsed in advance, with the number of callers that use each result. */
const parsedAhead = new Map<string, { outcome: YamlOutcome; users: number }>();

/**
 * Returns true if a sent value is a text that is short enough for YAML. Longer texts must be JSON.
 */
export const isWithinYamlLimit = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_YAML_LENGTH;

/** Returns the texts that are YAML, if they are long enough to block the event loop. */
export async function costlyToRead(texts: readonly string[]): Promise<string[]> {
  if (lengthOf(texts) <= MAX_IN_PLACE) return [];
  const yielder = new Yielder();
  const found: string[] = [];
  for (const text of new Set(texts)) {
    if (isYaml(text)) found.push(text);
    await yielder.yieldIfDue();
  }
  return lengthOf(found) > MAX_IN_PLACE ? found : [];
}

/**
 * Parses texts in a separate thread if parsing would block the event loop, so that `parseVariables` finds
 * the results.
 *
 * @returns a function that releases the results
 * @throws Unavailable if too many tasks wait for the thread
 */
export async function readAhead(texts: readonly string[]): Promise<() => void> {
  const found = await costlyToRead(texts);
  const read: string[] = [];
  const release = (): void => read.forEach(releaseResult);
  try {
    for (const batch of batchesOf(found)) {
      for (const [text, outcome] of zip(batch, await outcomesOf(batch))) {
        parsedAhead.set(text, { outcome, users: (parsedAhead.get(text)?.users ?? 0) + 1 });
        read.push(text);
      }
    }
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Parses variables like `parseVariables`, without blocking the event loop.
 *
 * @throws VariablesError, Unavailable
 */
export async function readVariables(text: string): Promise<Record<string, unknown>> {
  const release = await readAhead([text]);
  try {
    return parseVariables(text);
  } finally {
    release();
  }
}

/** Function that returns the variables in a text. */
export type VariablesReader = (text: string) => Record<string, unknown>;

/**
 * Parses any number of texts, yielding to the event loop between them.
 *
 * @returns a function with the result of `parseVariables` for each of the texts
 * @throws Unavailable
 */
export async function readAllVariables(texts: readonly string[]): Promise<VariablesReader> {
  const release = await readAhead(texts);
  try {
    const known = new Map<string, Record<string, unknown> | VariablesError>();
    const yielder = new Yielder();
    for (const text of new Set(texts)) {
      known.set(text, tryParse(text));
      await yielder.yieldIfDue();
    }
    return (text) => {
      const found = known.get(text) ?? parseVariables(text);
      if (found instanceof VariablesError) throw found;
      return found;
    };
  } finally {
    release();
  }
}

function tryParse(text: string): Record<string, unknown> | VariablesError {
  try {
    return parseVariables(text);
  } catch (error) {
    if (error instanceof VariablesError) return error;
    throw error;
  }
}

/**
 * Splits texts into batches. The thread serves other callers between batches, and each batch has its own
 * timeout.
 */
function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let remaining = 0;
  for (const text of texts) {
    if (text.length > remaining) {
      batches.push([]);
      remaining = MAX_YAML_LENGTH;
    }
    batches.at(-1)?.push(text);
    remaining -= text.length;
  }
  return batches;
}

async function outcomesOf(texts: readonly string[]): Promise<readonly YamlOutcome[]> {
  try {
    return await reader.run({ texts, limits: LIMITS });
  } catch (error) {
    if (error instanceof ThreadBusy) throw new Unavailable(1);
    return texts.map(() => ({ error: reasonOf(error) }));
  }
}

function releaseResult(text: string): void {
  const known = parsedAhead.get(text);
  if (!known) return;
  known.users -= 1;
  if (known.users === 0) parsedAhead.delete(text);
}

const lengthOf = (texts: readonly string[]): number =>
  texts.reduce((length, text) => length + text.length, 0);

/** Returns true if a text requires the full YAML parser. */
const isYaml = (text: string): boolean =>
  // JSON text that starts with another character is not an object.
  text.trimStart().startsWith('{')
    ? readDirectly(text) instanceof VariablesError
    : !isEmpty(text) && parsePlainVariables(text) === null;

/**
 * Parses variables as JSON, else as YAML 1.1 like Ansible, and returns the object.
 *
 * Empty text is `{}`. The result contains JSON values only.
 *
 * @throws VariablesError `Cannot parse as JSON (error: …) or YAML (error: …).`
 */
export function parseVariables(text: string): Record<string, unknown> {
  const direct = readDirectly(text);
  if (!(direct instanceof VariablesError)) return direct;
  const read = (): YamlOutcome => itemAt(readAllYaml({ texts: [text], limits: LIMITS }), 0);
  const outcome = parsedAhead.get(text)?.outcome ?? read();
  if ('json' in outcome) return parseRecord(outcome.json);
  throw new VariablesError(
    `Cannot parse as JSON (error: ${direct.message}) or YAML (error: ${outcome.error}).`,
    outcome.error,
    outcome.index ?? null,
  );
}

/**
 * Returns the error in a text of variables, with its line if known, for the author of the text; null if the
 * text is valid.
 *
 * @throws Unavailable
 */
export async function variablesFault(text: string): Promise<string | null> {
  const release = await readAhead(isWithinYamlLimit(text) ? [text] : []);
  try {
    parseSentVariables(text);
    return null;
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    const { reason, index } = error;
    return index === null ? reason : `Line ${text.slice(0, index).split('\n').length}: ${reason}`;
  } finally {
    release();
  }
}

/**
 * Parses variables of a request, whose length is limited.
 *
 * @throws VariablesError
 */
export function parseSentVariables(text: string): Record<string, unknown> {
  if (text.length <= MAX_YAML_LENGTH) return parseVariables(text);
  if (text.length > MAX_JSON_LENGTH) {
    throw new VariablesError(`Variables may have at most ${MAX_JSON_LENGTH} characters.`);
  }
  const json = readJsonObject(text, MAX_NAMES);
  if (!(json instanceof VariablesError)) return json;
  throw new VariablesError(
    `Cannot parse as JSON (error: ${json.message}) or YAML (error: longer than ${MAX_YAML_LENGTH} characters).`,
  );
}

/**
 * Returns true if the variables of a request can be stored.
 *
 * @throws VariablesError
 */
export function areStorableVariables(text: string): boolean {
  const isJson = text.length > MAX_YAML_LENGTH;
  const outcome = isJson ? undefined : parsedAhead.get(text)?.outcome;
  if (outcome && 'json' in outcome && !ESCAPED.test(outcome.json)) return true;
  const variables = parseSentVariables(text);
  return (isJson && text.isWellFormed() && !ESCAPED.test(text)) || isStorableJson(variables);
}

const isEmpty = (text: string): boolean => text.trim() === '' || text.trim() === '""';

/**
 * Parses texts that do not require the full YAML parser: empty text, plain lines and JSON. For other
 * texts, returns the error of the JSON parser.
 */
function readDirectly(text: string): Record<string, unknown> | VariablesError {
  if (isEmpty(text)) return {};
  return parsePlainVariables(text) ?? readJsonObject(text);
}

function readJsonObject(text: string, maxNames?: number): Record<string, unknown> | VariablesError {
  try {
    return checkedObject(parseJson(text, MAX_VALUES, maxNames), LIMITS);
  } catch (error) {
    return new VariablesError(reasonOf(error));
  }
}

/**
 * One line of minimal YAML: a name and a word, an IPv4 address or a short integer. The line cannot
 * contain an anchor, a tag, a quote, a comment, a date or a float.
 */
const LINE = /^(\w+): (?:([A-Za-z_][\w./@:-]*)|(\d{1,3}(?:\.\d{1,3}){3})|(0|[1-9]\d{0,14}))$/;
const KEY = /^[A-Za-z_]/;
/** Words that YAML 1.1 does not interpret as text. */
const NO_TEXT = /^(?:yes|no|on|off|true|false|null)$/i;

/**
 * Parses variables with one `key: value` per line, the usual form of host variables, many times as fast as
 * a full YAML parser. The result equals that of `parseVariables`. Returns null for everything else,
 * including invalid text, whose error the full parser reports.
 */
export function parsePlainVariables(text: string): Record<string, unknown> | null {
  const variables: Record<string, unknown> = {};
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const [, key = '', word, address, number] = LINE.exec(line) ?? [];
    if (!KEY.test(key) || NO_TEXT.test(key) || key === '__proto__') return null;
    if (word !== undefined && (NO_TEXT.test(word) || word.endsWith(':'))) return null;
    if (Object.hasOwn(variables, key)) return null;
    variables[key] = word ?? address ?? Number(number);
  }
  return lines.length > 0 ? variables : null;
}

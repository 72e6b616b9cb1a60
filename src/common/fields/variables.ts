import { Unavailable } from '../errors/errors.js';
import { itemAt, zip } from '../invariants.js';
import { parseRecord } from '../records.js';
import { Thread, ThreadBusy, threadFile } from '../thread.js';
import { Turns } from '../turns.js';
import { MAX_VALUES, parseJson } from './json-bounds.js';
import { parsePlainVariables } from './plain-variables.js';
import { isStorableJson, MAX_DEPTH } from './text.js';
import {
  checkedObject,
  readAllYaml,
  reasonOf,
  type YamlOutcome,
  type YamlTask,
} from './yaml-reader.js';

/** Characters that variables of a request may have, as JSON and as YAML. */
const MAX_JSON_LENGTH = 1_048_576;
export const MAX_YAML_LENGTH = 65_536;
/** Names that longer texts may have: each costs every step of a launch, long values cost next to nothing. */
const MAX_NAMES = 10_000;
/** How JSON writes what cannot be stored. */
const ESCAPED = /\\u(?:0000|d[89a-f])/;

const LIMITS = { aliases: 100, depth: MAX_DEPTH, length: MAX_JSON_LENGTH };

/** So much YAML is read where it is needed; more of it keeps the event loop from everybody else. */
const IN_PLACE = 2048;

const reader = new Thread<YamlTask, YamlOutcome[]>({
  file: threadFile('yaml'),
  // A text of the largest size takes a fifth of a second.
  timeoutMs: 5000,
  maxWaiting: 16,
  resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 },
});

/**
 * The text is neither a JSON nor a YAML object; `message` is the contract's wording
 * (docs/contract/conventions.md#variables).
 */
export class VariablesError extends Error {
  override readonly name = 'VariablesError';

  /**
   * @param reason what is wrong with it as YAML, which JSON is too
   * @param at from which character on; null where that is not known
   */
  constructor(
    message: string,
    readonly reason = message,
    readonly at: number | null = null,
  ) {
    super(message);
  }
}

/** What texts of YAML were read to, and for how many that need it. */
const ahead = new Map<string, { outcome: YamlOutcome; users: number }>();

/** Whether a value that was sent is a text to be read; what is longer is refused without being read. */
export const isReadable = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_YAML_LENGTH;

/** Texts of variables that are YAML, where they are so much that reading them in place would hold up others. */
export async function costlyToRead(texts: readonly string[]): Promise<string[]> {
  if (lengthOf(texts) <= IN_PLACE) return [];
  const turns = new Turns();
  const found: string[] = [];
  for (const text of new Set(texts)) {
    if (isYaml(text)) found.push(text);
    await turns.next();
  }
  return lengthOf(found) > IN_PLACE ? found : [];
}

/**
 * Reads texts of variables in a thread of their own, where reading them in place would take long, so
 * that `parseVariables` finds them read.
 *
 * @returns has them forgotten, when they are not needed any more
 * @throws Unavailable where too many wait for the thread
 */
export async function readAhead(texts: readonly string[]): Promise<() => void> {
  const found = await costlyToRead(texts);
  const read: string[] = [];
  const forget = (): void => read.forEach(forgetOne);
  try {
    for (const portion of portionsOf(found)) {
      for (const [text, outcome] of zip(portion, await outcomesOf(portion))) {
        ahead.set(text, { outcome, users: (ahead.get(text)?.users ?? 0) + 1 });
        read.push(text);
      }
    }
    return forget;
  } catch (error) {
    forget();
    throw error;
  }
}

/** What `parseVariables` says, without holding up others. @throws VariablesError, Unavailable */
export async function readVariables(text: string): Promise<Record<string, unknown>> {
  const forget = await readAhead([text]);
  try {
    return parseVariables(text);
  } finally {
    forget();
  }
}

/** What texts of variables stand for; of texts that are read one by one where that is asked. */
export type VariablesReader = (text: string) => Record<string, unknown>;

/**
 * Reads any number of texts of variables, with turns for others between them.
 *
 * @returns says for each of the texts what `parseVariables` does
 * @throws Unavailable
 */
export async function readAllVariables(texts: readonly string[]): Promise<VariablesReader> {
  const forget = await readAhead(texts);
  try {
    const known = new Map<string, Record<string, unknown> | VariablesError>();
    const turns = new Turns();
    for (const text of new Set(texts)) {
      known.set(text, attempted(text));
      await turns.next();
    }
    return (text) => {
      const found = known.get(text) ?? parseVariables(text);
      if (found instanceof VariablesError) throw found;
      return found;
    };
  } finally {
    forget();
  }
}

function attempted(text: string): Record<string, unknown> | VariablesError {
  try {
    return parseVariables(text);
  } catch (error) {
    if (error instanceof VariablesError) return error;
    throw error;
  }
}

/** The thread serves others between them, and has its time for each. */
function portionsOf(texts: readonly string[]): string[][] {
  const portions: string[][] = [];
  let room = 0;
  for (const text of texts) {
    if (text.length > room) {
      portions.push([]);
      room = MAX_YAML_LENGTH;
    }
    portions.at(-1)?.push(text);
    room -= text.length;
  }
  return portions;
}

async function outcomesOf(texts: readonly string[]): Promise<readonly YamlOutcome[]> {
  try {
    return await reader.run({ texts, limits: LIMITS });
  } catch (error) {
    if (error instanceof ThreadBusy) throw new Unavailable(1);
    return texts.map(() => ({ error: reasonOf(error) }));
  }
}

function forgetOne(text: string): void {
  const known = ahead.get(text);
  if (!known) return;
  known.users -= 1;
  if (known.users === 0) ahead.delete(text);
}

const lengthOf = (texts: readonly string[]): number =>
  texts.reduce((length, text) => length + text.length, 0);

/** Whether reading a text takes a parser of all of YAML. */
const isYaml = (text: string): boolean =>
  // No other JSON is an object.
  text.trimStart().startsWith('{')
    ? readDirectly(text) instanceof VariablesError
    : !isEmpty(text) && parsePlainVariables(text) === null;

/**
 * Reads a variables text as JSON, else as YAML 1.1 (as Ansible itself does), and returns the object.
 *
 * Empty text is `{}`. The result holds JSON values only.
 *
 * @throws VariablesError `Cannot parse as JSON (error: …) or YAML (error: …).`
 */
export function parseVariables(text: string): Record<string, unknown> {
  const direct = readDirectly(text);
  if (!(direct instanceof VariablesError)) return direct;
  const read = (): YamlOutcome => itemAt(readAllYaml({ texts: [text], limits: LIMITS }), 0);
  const outcome = ahead.get(text)?.outcome ?? read();
  if ('json' in outcome) return parseRecord(outcome.json);
  throw new VariablesError(
    `Cannot parse as JSON (error: ${direct.message}) or YAML (error: ${outcome.error}).`,
    outcome.error,
    outcome.at ?? null,
  );
}

/**
 * What is wrong with a text of variables for whoever typed it, with the line it is on; null: nothing.
 *
 * @throws Unavailable
 */
export async function variablesFault(text: string): Promise<string | null> {
  const forget = await readAhead(isReadable(text) ? [text] : []);
  try {
    parseSentVariables(text);
    return null;
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    const { reason, at } = error;
    return at === null ? reason : `Line ${text.slice(0, at).split('\n').length}: ${reason}`;
  } finally {
    forget();
  }
}

/**
 * Reads variables that a request sent, which have to be of a size.
 *
 * @throws VariablesError
 */
export function parseSentVariables(text: string): Record<string, unknown> {
  if (text.length <= MAX_YAML_LENGTH) return parseVariables(text);
  if (text.length > MAX_JSON_LENGTH) {
    throw new VariablesError(`Variables may have at most ${MAX_JSON_LENGTH} characters.`);
  }
  const json = readJson(text, MAX_NAMES);
  if (!(json instanceof VariablesError)) return json;
  throw new VariablesError(
    `Cannot parse as JSON (error: ${json.message}) or YAML (error: longer than ${MAX_YAML_LENGTH} characters).`,
  );
}

/**
 * Whether what variables of a request stand for can be stored.
 *
 * @throws VariablesError
 */
export function areStorableVariables(text: string): boolean {
  const outcome = text.length <= MAX_YAML_LENGTH ? ahead.get(text)?.outcome : undefined;
  if (outcome && 'json' in outcome && !ESCAPED.test(outcome.json)) return true;
  return isStorableJson(parseSentVariables(text));
}

const isEmpty = (text: string): boolean => text.trim() === '' || text.trim() === '""';

/** What is no YAML beyond its plainest form: nothing, lines, JSON; else why it is no JSON. */
function readDirectly(text: string): Record<string, unknown> | VariablesError {
  if (isEmpty(text)) return {};
  return parsePlainVariables(text) ?? readJson(text);
}

function readJson(text: string, maxNames?: number): Record<string, unknown> | VariablesError {
  try {
    return checkedObject(parseJson(text, MAX_VALUES, maxNames), LIMITS);
  } catch (error) {
    return new VariablesError(reasonOf(error));
  }
}

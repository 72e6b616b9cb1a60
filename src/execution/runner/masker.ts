import { ExactNumber, entriesOf, recordOf } from '../../common/exact-json.js';
import { itemAt } from '../../common/invariants.js';
import { prefixFinderOf, brokenFinderOf, wrappedForms } from './broken-texts.js';
import { mapTexts } from './clean-text.js';
import { isPlainOutput } from './events.js';
import { mergeSpans, mask, MASK, maskLines, piecesFrom, type Span } from './mask.js';
import { secretForms } from './secret-forms.js';
import { finderOf } from './text-finder.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import { isRecord } from '../../common/records.js';

/** Functions that mask known secrets. */
export interface Masker {
  text(text: string): string;
  /**
   * Masks consecutive pieces of output of one or more lines each. A secret that is broken over
   * several pieces is masked in each piece.
   */
  output(pieces: readonly string[]): string[];
  /**
   * Returns the number of last pieces that must wait for the next piece, because they can contain
   * the beginning of a secret.
   */
  openPieces(pieces: readonly string[]): number;
  /** Masks texts, keys and numbers of a JSON value, at any depth. */
  value(value: unknown): unknown;
  /** Masks output, names and data of consecutive events; ids and times do not change. */
  events(rows: readonly EventRow[]): EventRow[];
}

/**
 * Creates a masker for the secrets of one run. The masker finds a secret in these forms:
 *
 * - in plain text, inside JSON (quoted once or twice) and INI, and as base64 at any alignment;
 * - line by line, if it has several lines;
 * - broken over lines at a space, a hyphen or any position of a long word, as Ansible breaks warnings.
 *
 * Secrets under 3 characters cannot be masked. Secrets under 6 characters are not found where they are
 * broken over lines.
 */
export function createMasker(secrets: readonly string[]): Masker {
  const forms = secretForms(secrets);
  if (forms.size === 0) return passThrough;
  const find = finderOf(forms);
  const wrapped = wrappedForms(forms);
  const findBroken = brokenFinderOf(wrapped);
  const prefixStart = prefixFinderOf(wrapped);
  const secretsIn = (input: string): Span[] => mergeSpans([...find(input), ...findBroken(input)]);
  const text = (input: string): string => mask(input, secretsIn(input));
  const output = (pieces: readonly string[]): string[] =>
    maskLines(pieces, secretsIn(pieces.join('\n')));
  const openPieces = (pieces: readonly string[]): number => {
    const input = pieces.join('\n');
    return piecesFrom(prefixStart(input), pieces, secretsIn(input));
  };
  const value = (input: unknown): unknown => maskNumbers(mapTexts(input, text), text);
  const event = (row: EventRow, stdout: string): EventRow => ({
    ...row,
    stdout,
    eventDisplay: text(row.eventDisplay),
    hostName: text(row.hostName),
    playbook: text(row.playbook),
    play: text(row.play),
    task: text(row.task),
    role: text(row.role),
    eventData: maskData(row, text, value),
  });
  const events = (rows: readonly EventRow[]): EventRow[] =>
    blocksOf(rows).flatMap((block) => {
      const shown = output(block.map(({ stdout }) => stdout));
      return block.map((row, index) => event(row, itemAt(shown, index)));
    });
  return { text, output, openPieces, value, events };
}

/** Groups rows of output outside of tasks: each line of such output is an event of its own. */
function blocksOf(rows: readonly EventRow[]): EventRow[][] {
  const blocks: EventRow[][] = [];
  for (const row of rows) {
    const block = blocks.at(-1);
    if (block && isPlainOutput(row) && isPlainOutput(itemAt(block, 0))) block.push(row);
    else blocks.push([row]);
  }
  return blocks;
}

const passThrough: Masker = {
  text: (text) => text,
  output: (pieces) => [...pieces],
  openPieces: () => 0,
  value: (value) => value,
  events: (rows) => [...rows],
};

function maskData(
  { event, eventData }: EventRow,
  text: (value: string) => string,
  value: (input: unknown) => unknown,
): Record<string, unknown> {
  // The numbers of the final event are task counts: a secret `100` must not mask them.
  const masked = event === 'playbook_on_stats' ? mapTexts(eventData, text) : value(eventData);
  return isRecord(masked) ? masked : {};
}

function maskNumbers(input: unknown, text: (value: string) => string): unknown {
  if (typeof input === 'number') return text(String(input)) === MASK ? MASK : input;
  if (input instanceof ExactNumber) return text(input.text) === MASK ? MASK : input;
  if (typeof input !== 'object' || input === null) return input;
  if (Array.isArray(input)) return input.map((item) => maskNumbers(item, text));
  return recordOf(entriesOf(input).map(([key, item]) => [key, maskNumbers(item, text)] as const));
}

import { randomUUID } from 'node:crypto';
import { parseExact } from '../../common/exact-json.js';
import { assertBoundedJson } from '../../common/fields/json-bounds.js';
import { isRunnerEvent, type RunnerEvent } from './events.js';
import { LineSplitter } from './line-splitter.js';

/** Line separators of Python's `splitlines`. `ansible-runner` increments the counter for each piece. */
const PYTHON_LINE_SEPARATOR = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
/**
 * Maximum number of missing counters, which a run never reaches. If a line would exceed the maximum, a task
 * printed text that looks like an event. The line is treated as output.
 */
export const MAX_MISSING = 200_000;
/**
 * Maximum number of pieces of one line; the rest of the line is dropped. Each piece becomes an event, which
 * takes a thousand times the memory of a separator.
 */
const MAX_PIECES = 10_000;
/** Maximum length of one line of output, in characters; the rest is dropped. */
const MAX_OUTPUT_LENGTH = 64 * 1024;
/**
 * Maximum number of values in one line, which take up to 200 MB of memory. The statistics of 300,000
 * hosts have at most 2.4 million values.
 */
const MAX_LINE_VALUES = 4_000_000;

/**
 * Parses the output of `ansible-runner run --json` into events.
 *
 * Output outside of any event (a syntax error, a traceback) is printed as plain lines, each of
 * which increments the counter. Such a line becomes a `verbose` event with the next counter.
 * Counters that the output skips are stored in {@link missing}, because `ansible-runner` drops
 * some plain lines next to events.
 */
export class EventReader {
  /** Counters below {@link lastCounter} that the output skipped. */
  readonly missing = new Set<number>();
  lastCounter = 0;
  private lastLine = 0;
  private readonly splitter = new LineSplitter();

  read(chunk: Buffer): RunnerEvent[] {
    return this.splitter.push(chunk).flatMap((line) => this.toEvents(line));
  }

  end(): RunnerEvent[] {
    return this.splitter.end().flatMap((line) => this.toEvents(line));
  }

  private toEvents(line: string): RunnerEvent[] {
    const event = parseRunnerEvent(line);
    if (!event || !this.mayFollow(event)) return this.toOutput(line);
    for (let counter = this.lastCounter + 1; counter < event.counter; counter += 1) {
      this.missing.add(counter);
    }
    this.missing.delete(event.counter);
    this.lastCounter = Math.max(this.lastCounter, event.counter);
    const endLine = event['end_line'];
    // Type check without conversion: converting an endlessly nested list to a number would crash
    // the worker.
    if (typeof endLine === 'number' && endLine > 0) this.lastLine = endLine;
    return [event];
  }

  private mayFollow({ counter }: RunnerEvent): boolean {
    return counter > 0 && counter - this.lastCounter - 1 <= MAX_MISSING - this.missing.size;
  }

  private toOutput(text: string): RunnerEvent[] {
    const pieces = text.split(PYTHON_LINE_SEPARATOR, MAX_PIECES);
    if (pieces.at(-1) === '' && pieces.length > 1) pieces.pop();
    return pieces.map((piece, index) => {
      const endsLine = index === pieces.length - 1 ? 1 : 0;
      this.lastCounter += 1;
      this.lastLine += endsLine;
      return {
        uuid: randomUUID(),
        counter: this.lastCounter,
        event: 'verbose',
        stdout:
          piece.length > MAX_OUTPUT_LENGTH ? `${piece.slice(0, MAX_OUTPUT_LENGTH)} ...` : piece,
        start_line: this.lastLine - endsLine,
        end_line: this.lastLine,
        created: new Date().toISOString(),
        event_data: {},
      };
    });
  }
}

/** Parses an event from one line of JSON; returns null for anything else, and for too many values. */
export function parseRunnerEvent(text: string, maxValues = MAX_LINE_VALUES): RunnerEvent | null {
  if (!text.startsWith('{')) return null;
  try {
    if (text.length > maxValues) assertBoundedJson(text, maxValues, Infinity, Infinity);
    // Artifacts of `set_stats` keep their exact numbers. Other events are only displayed.
    const value: unknown = text.includes('"artifact_data"') ? parseExact(text) : JSON.parse(text);
    return isRunnerEvent(value) ? value : null;
  } catch {
    return null;
  }
}

import { parseExact } from '../../common/exact-json.js';
import { randomUUID } from 'node:crypto';

import { isRunnerEvent, type RunnerEvent } from './events.js';
import { type Line, LineSplitter } from './line-splitter.js';

/** Line ends as the printing side counts them (Python's `splitlines`): each piece has its own counter. */
const PIECE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
/**
 * So many events a run cannot have made without printing them. A line that says so is a task's own: what
 * is printed beside events is handed on as it is, even where it looks like one.
 */
export const MOST_MISSING = 200_000;
/** A line that is no event is output; more of it than this is not shown. */
const MAX_OUTPUT_LENGTH = 64 * 1024;

/**
 * Turns the output of `ansible-runner run --json` into events.
 *
 * Output outside of any event (a syntax error, a traceback) is printed as plain lines, each of which has
 * taken a counter: such a line becomes a `verbose` event with the next counter. Counters that were never seen
 * are remembered in {@link missing}, because the printing side swallows some plain lines next to events.
 */
export class EventReader {
  /** Counters below {@link lastCounter} that did not arrive. */
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

  private toEvents(line: Line): RunnerEvent[] {
    const event = parseEvent(line.text);
    if (!event || !this.mayFollow(event)) return this.toOutput(line.text);
    for (let counter = this.lastCounter + 1; counter < event.counter; counter += 1) {
      this.missing.add(counter);
    }
    this.lastCounter = Math.max(this.lastCounter, event.counter);
    const endLine = event['end_line'];
    // A list of lists without end, turned into a number, would end the worker.
    if (typeof endLine === 'number' && endLine > 0) this.lastLine = endLine;
    return [event];
  }

  private mayFollow({ counter }: RunnerEvent): boolean {
    return counter > 0 && counter - this.lastCounter - 1 <= MOST_MISSING - this.missing.size;
  }

  private toOutput(text: string): RunnerEvent[] {
    const pieces = text.split(PIECE_END);
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

/** The event in one line of JSON; null for anything else. */
export function parseEvent(text: string): RunnerEvent | null {
  if (!text.startsWith('{')) return null;
  try {
    // Statistics that runs set are handed on; other events are shown alone.
    const value: unknown = text.includes('"artifact_data"') ? parseExact(text) : JSON.parse(text);
    return isRunnerEvent(value) ? value : null;
  } catch {
    return null;
  }
}

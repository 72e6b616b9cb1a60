import { isUtf8 } from 'node:buffer';
import { BadRequest, PayloadTooLarge } from '../errors/errors.js';
import { weightOf } from './negotiation.js';
import type { ApiRequest } from './request.js';

/** JSON values one to a line: bodies that are read, and answers that are written, as they come. */
export const LINES_TYPE = 'application/x-ndjson';

/** Whether the body of a request is lines, which no parser touches: its handler reads the stream. */
export const sendsLines = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === LINES_TYPE;

/** Whether the client would have lines rather than one JSON value. */
export function wantsLines({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  const accept = headers.accept ?? '*/*';
  if (!accept.toLowerCase().includes(LINES_TYPE)) return false;
  const lines = weightOf(accept, 'application', 'x-ndjson');
  return lines > 0 && lines >= weightOf(accept, 'application', 'json');
}

/** One line that is not empty; `text` is null where it is too long or no UTF-8. */
export interface BodyLine {
  /** Counted from 1, empty lines included, as an editor shows them. */
  number: number;
  text: string | null;
}

/** Bounds of a body of lines, in bytes. */
export interface LineLimits {
  body: number;
  line: number;
}

const NEWLINE = 0x0a;

/**
 * Cuts a body into lines, a chunk at a time: what is not taken is not read from the network either.
 * No more than one line is held in memory, and of one that is too long only its number.
 *
 * @throws PayloadTooLarge as soon as the body is larger than allowed, BadRequest when it breaks off
 */
export async function* readLines(
  request: ApiRequest,
  limits: LineLimits,
): AsyncGenerator<BodyLine[]> {
  const splitter = new Splitter(limits.line);
  let bytes = 0;
  try {
    // The connection has to outlive a refusal, which is written to it.
    const received: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of received) {
      bytes += chunk.length;
      if (bytes > limits.body) throw new PayloadTooLarge(limits.body);
      yield splitter.push(chunk);
    }
  } catch (error) {
    throw request.readableAborted ? new BadRequest('The request body broke off.') : error;
  }
  yield splitter.end();
}

class Splitter {
  private pieces: Buffer[] = [];
  private kept = 0;
  private number = 0;

  constructor(private readonly maxBytes: number) {}

  push(chunk: Buffer): BodyLine[] {
    const lines: BodyLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.keep(chunk.subarray(start, end));
      this.take(lines);
      start = end + 1;
    }
    this.keep(chunk.subarray(start));
    return lines;
  }

  end(): BodyLine[] {
    const lines: BodyLine[] = [];
    if (this.kept > 0) this.take(lines);
    return lines;
  }

  private keep(piece: Buffer): void {
    this.kept += piece.length;
    if (this.kept <= this.maxBytes) this.pieces.push(piece);
    else this.pieces = [];
  }

  private take(lines: BodyLine[]): void {
    this.number += 1;
    const bytes = Buffer.concat(this.pieces);
    const isReadable = this.kept <= this.maxBytes && isUtf8(bytes);
    const text = isReadable ? bytes.toString('utf8').trim() : null;
    if (text !== '') lines.push({ number: this.number, text });
    this.pieces = [];
    this.kept = 0;
  }
}

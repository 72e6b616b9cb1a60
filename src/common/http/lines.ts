import { isUtf8 } from 'node:buffer';
import { BadRequest, PayloadTooLarge } from '../errors/errors.js';
import { weightOf } from './negotiation.js';
import type { ApiRequest } from './request.js';

/** Media type of NDJSON: one JSON value per line, in bodies and responses that are streamed. */
export const LINES_TYPE = 'application/x-ndjson';

/**
 * Returns true if the request body is NDJSON. No parser reads an NDJSON body: its handler reads the
 * stream.
 */
export const sendsLines = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === LINES_TYPE;

/** Returns true if the client accepts NDJSON with at least the weight of JSON. */
export function wantsLines({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  const accept = headers.accept ?? '*/*';
  if (!accept.toLowerCase().includes(LINES_TYPE)) return false;
  const lines = weightOf(accept, 'application', 'x-ndjson');
  return lines > 0 && lines >= weightOf(accept, 'application', 'json');
}

/** Non-empty line of a body. `text` is null if the line is too long or not UTF-8. */
export interface BodyLine {
  /** Line number from 1, counting empty lines, as in an editor. */
  number: number;
  text: string | null;
}

/** Limits of an NDJSON body, in bytes. */
export interface LineLimits {
  body: number;
  line: number;
}

const NEWLINE = 0x0a;

/**
 * Splits a body into lines, one chunk at a time, with back-pressure to the network. At most one
 * incomplete line is kept. The content of a line that is too long is discarded.
 *
 * @throws PayloadTooLarge once the body exceeds the limit, BadRequest if the body is incomplete
 */
export async function* readLines(
  request: ApiRequest,
  limits: LineLimits,
): AsyncGenerator<BodyLine[]> {
  const splitter = new Splitter(limits.line);
  let bytes = 0;
  try {
    // The connection must stay open after an error, for the response.
    const received: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of received) {
      bytes += chunk.length;
      if (bytes > limits.body) throw new PayloadTooLarge(limits.body);
      yield splitter.push(chunk);
    }
  } catch (error) {
    throw request.readableAborted ? new BadRequest('The request body is incomplete.') : error;
  }
  yield splitter.end();
}

class Splitter {
  private pieces: Buffer[] = [];
  private length = 0;
  private number = 0;

  constructor(private readonly maxBytes: number) {}

  push(chunk: Buffer): BodyLine[] {
    const lines: BodyLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.append(chunk.subarray(start, end));
      this.finishLine(lines);
      start = end + 1;
    }
    this.append(chunk.subarray(start));
    return lines;
  }

  end(): BodyLine[] {
    const lines: BodyLine[] = [];
    if (this.length > 0) this.finishLine(lines);
    return lines;
  }

  private append(piece: Buffer): void {
    this.length += piece.length;
    if (this.length <= this.maxBytes) this.pieces.push(piece);
    else this.pieces = [];
  }

  private finishLine(lines: BodyLine[]): void {
    this.number += 1;
    const bytes = Buffer.concat(this.pieces);
    const isReadable = this.length <= this.maxBytes && isUtf8(bytes);
    const text = isReadable ? bytes.toString('utf8').trim() : null;
    if (text !== '') lines.push({ number: this.number, text });
    this.pieces = [];
    this.length = 0;
  }
}

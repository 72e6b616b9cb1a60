import type { Response } from 'express';
import { entriesOf, exactJson } from '../exact-json.js';
import { isRecord } from '../records.js';
import { Yielder } from '../yielder.js';

/** Depth to which a response is split: each host in `_meta.hostvars` of an inventory script is one piece. */
const DEPTH = 3;
/** Number of characters after which pieces are written together. */
const MIN_WRITE_LENGTH = 65_536;

const longResponses = new WeakSet<object>();

/**
 * Marks a response that can be long. `sendJson` writes the response in pieces, and yields to the event
 * loop between the pieces.
 */
export function markLong<Body extends object>(body: Body): Body {
  longResponses.add(body);
  return body;
}

export const isLong = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && longResponses.has(value);

/** Yields the JSON text of a response in pieces. */
function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (depth === 0 || !isRecord(value)) {
    yield exactJson(value);
    return;
  }
  let separator = '{';
  for (const [name, member] of entriesOf(value)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* piecesOf(member, depth - 1);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** Returns true if the JSON text of a value has more than `max` characters; stops reading at that length. */
export function isLongerThan(value: unknown, max: number): boolean {
  let length = 0;
  for (const piece of piecesOf(value, DEPTH)) {
    length += piece.length;
    if (length > max) return true;
  }
  return false;
}

/** Writes the JSON of a response and ends the response. Stops if the client disconnects. */
async function writeInPieces(response: Response, body: object): Promise<void> {
  const yielder = new Yielder();
  let text = '';
  for (const piece of piecesOf(body, DEPTH)) {
    text += piece;
    if (text.length >= MIN_WRITE_LENGTH) {
      response.write(text);
      text = '';
    }
    await yielder.yieldIfDue();
    if (response.destroyed) return;
  }
  response.end(text);
}

/**
 * Replaces `response.json`. The framework's implementation also handles settings, conditional requests
 * and charsets, which this API does not use and which take longer for a page of a list than the JSON itself.
 */
export function sendJson(this: Response, value: unknown): Response {
  if (!this.hasHeader('Content-Type')) {
    this.setHeader('Content-Type', 'application/json; charset=utf-8');
  }
  if (isLong(value)) {
    void writeInPieces(this, value).catch((error: Error) => this.destroy(error));
    return this;
  }
  const text = exactJson(value);
  this.setHeader('Content-Length', Buffer.byteLength(text));
  return this.end(text);
}

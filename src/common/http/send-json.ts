import type { Response } from 'express';
import { exactJson } from '../exact-json.js';
import { isInPieces, writeInPieces } from './long-answer.js';

/**
 * Replaces `response.json`. The framework's implementation also handles settings, conditional requests
 * and charsets that this API does not have, and costs more for a page than its JSON.
 */
export function sendJson(this: Response, value: unknown): Response {
  if (!this.hasHeader('Content-Type')) {
    this.setHeader('Content-Type', 'application/json; charset=utf-8');
  }
  if (isInPieces(value)) {
    void writeInPieces(this, value).catch((error: Error) => this.destroy(error));
    return this;
  }
  const text = exactJson(value);
  this.setHeader('Content-Length', Buffer.byteLength(text));
  return this.end(text);
}

import { exactJson } from '../../common/exact-json.js';
import { once } from 'node:events';
import type { Response } from 'express';

/** A browser that lost the connection comes back after this long. */
const RECONNECT_MS = 2000;

/** A message of a stream; without an `id` the place to resume from stays as it was. */
export interface StreamMessage {
  event: string;
  id?: number;
  data: unknown;
}

/**
 * Writes server-sent events (WHATWG HTML, 9.2). Waits for the client to take what was written, so a
 * slow one holds no more than one message in memory.
 */
export class EventStream {
  constructor(
    private readonly response: Response,
    private readonly signal: AbortSignal,
  ) {}

  open(): void {
    this.response.status(200);
    this.response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
    this.response.setHeader('Cache-Control', 'no-store, no-transform');
    // Reverse proxies collect answers before they pass them on, unless told.
    this.response.setHeader('X-Accel-Buffering', 'no');
    this.response.flushHeaders();
  }

  /** Tells the client how soon to come back. */
  begin(): Promise<void> {
    return this.write(`retry: ${RECONNECT_MS}\n\n`);
  }

  /** A comment: shows proxies and the client that the connection lives. */
  keepAlive(): Promise<void> {
    return this.write(': keep-alive\n\n');
  }

  send(message: StreamMessage): Promise<void> {
    return this.write(framed(message));
  }

  private async write(text: string): Promise<void> {
    if (this.signal.aborted || this.response.write(text)) return;
    // An abort ends the waiting like a client that left: whoever writes looks at the signal.
    await once(this.response, 'drain', { signal: this.signal }).catch(() => undefined);
  }
}

/** JSON has no line breaks of its own, so one data line is enough. */
export const framed = ({ event, id, data }: StreamMessage): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${exactJson(data)}\n\n`;

import { once } from 'node:events';
import type { Response } from 'express';
import { exactJson } from '../../common/exact-json.js';

/** Time after which a browser reconnects, in ms. */
const RECONNECT_MS = 2000;

/** A message of a stream. A message without an `id` does not change the position to resume from. */
export interface StreamMessage {
  event: string;
  id?: number;
  data: unknown;
}

/**
 * Writes server-sent events (WHATWG HTML, 9.2). Waits until the client has received a message, so
 * that a slow client keeps at most one message in memory.
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
    // Reverse proxies buffer responses unless this header disables it.
    this.response.setHeader('X-Accel-Buffering', 'no');
    this.response.flushHeaders();
  }

  /** Sends the reconnect delay to the client. */
  begin(): Promise<void> {
    return this.write(`retry: ${RECONNECT_MS}\n\n`);
  }

  /** Sends a comment, which shows proxies and the client that the connection is alive. */
  keepAlive(): Promise<void> {
    return this.write(': keep-alive\n\n');
  }

  send(message: StreamMessage): Promise<void> {
    return this.write(formatMessage(message));
  }

  private async write(text: string): Promise<void> {
    if (this.signal.aborted || this.response.write(text)) return;
    // An abort or a disconnected client ends the wait without an error; callers check the signal.
    await once(this.response, 'drain', { signal: this.signal }).catch(() => undefined);
  }
}

/** JSON contains no line breaks, so one data line is sufficient. */
const formatMessage = ({ event, id, data }: StreamMessage): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${exactJson(data)}\n\n`;

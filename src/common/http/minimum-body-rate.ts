import type { NextFunction, Request, Response } from 'express';
import { hasBody } from './body.js';
import { refuseSlow } from './parser-errors.js';

/** Time after which the minimum rate applies. */
const GRACE_MS = 10_000;
const MIN_BYTES_PER_SECOND = 1024;
const CHECK_MS = 1000;

/** Body that has not arrived completely. */
interface PendingBody {
  request: Request;
  response: Response;
  /** Time spent waiting for the client, in milliseconds. */
  waitedMs: number;
  /** Number of bytes that the connection had received before this request. */
  bytesBefore: number;
}

/**
 * Closes requests whose body arrives below the minimum rate. Otherwise a client could hold a connection,
 * and the memory of the received part, for any time. Only the time in which the server waits for the
 * client counts, and not the time in which the client waits for the server.
 */
export class MinimumBodyRate {
  private readonly pending = new Set<PendingBody>();
  private timer: NodeJS.Timeout | undefined;

  readonly handle = (request: Request, response: Response, next: NextFunction): void => {
    if (hasBody(request) && !request.complete) {
      const body = { request, response, waitedMs: 0, bytesBefore: request.socket.bytesRead };
      this.pending.add(body);
      const onEnd = (): void => this.remove(body);
      request.once('end', onEnd).once('close', onEnd);
      this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
    }
    next();
  };

  private remove(body: PendingBody): void {
    this.pending.delete(body);
    if (this.pending.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private check(): void {
    for (const body of this.pending) {
      const { request, response } = body;
      // Received bytes that are not read yet mean that the server is the slow side. Once the response is
      // sent, the rest of the body is never read.
      if (request.readableLength > 0 && !response.writableFinished) continue;
      body.waitedMs += CHECK_MS;
      const receivedBytes = request.socket.bytesRead - body.bytesBefore;
      const isSlow = receivedBytes < (body.waitedMs / 1000) * MIN_BYTES_PER_SECOND;
      if (body.waitedMs <= GRACE_MS || !isSlow) continue;
      this.remove(body);
      if (response.headersSent) request.destroy();
      else refuseSlow(request);
    }
  }
}

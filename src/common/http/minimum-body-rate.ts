import type { NextFunction, Request, Response } from 'express';
import { hasBody } from './body.js';
import { refuseSlow } from './parser-errors.js';

/** Time after which the minimum rate applies. */
const GRACE_MS = 10_000;
const LEAST_BYTES_PER_SECOND = 1024;
const CHECK_MS = 1000;

/** Body that has not arrived completely. */
interface OpenBody {
  request: Request;
  response: Response;
  /** Time spent waiting for the client, in milliseconds. */
  waited: number;
  /** Number of bytes that the connection had received before this request. */
  before: number;
}

/**
 * Closes requests whose body arrives below the minimum rate. Otherwise a client could hold a connection,
 * and the memory of the received part, for any time. Only the time in which the server waits for the
 * client counts, and not the time in which the client waits for the server.
 */
export class MinimumBodyRate {
  private readonly open = new Set<OpenBody>();
  private timer: NodeJS.Timeout | undefined;

  readonly handle = (request: Request, response: Response, next: NextFunction): void => {
    if (hasBody(request) && !request.complete) {
      const body = { request, response, waited: 0, before: request.socket.bytesRead };
      this.open.add(body);
      const forget = (): void => this.forget(body);
      request.once('end', forget).once('close', forget);
      this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
    }
    next();
  };

  private forget(body: OpenBody): void {
    this.open.delete(body);
    if (this.open.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private check(): void {
    for (const body of this.open) {
      const { request, response } = body;
      // Received bytes that are not read yet mean that the server is the slow side. Once the response is
      // sent, the rest of the body is never read.
      if (request.readableLength > 0 && !response.writableFinished) continue;
      body.waited += CHECK_MS;
      const brought = request.socket.bytesRead - body.before;
      const isSlow = brought < (body.waited / 1000) * LEAST_BYTES_PER_SECOND;
      if (body.waited <= GRACE_MS || !isSlow) continue;
      this.forget(body);
      if (response.headersSent) request.destroy();
      else refuseSlow(request);
    }
  }
}

import type { NextFunction, Request, Response } from 'express';
import { hasBody } from './body.js';
import { refuseSlow } from './parser-errors.js';

/** Time in which nothing is asked of a body yet. */
const GRACE_MS = 10_000;
const LEAST_BYTES_PER_SECOND = 1024;
const CHECK_MS = 1000;

/** A body that has not come to its end. */
interface OpenBody {
  request: Request;
  response: Response;
  /** How long the client was waited for, in milliseconds. */
  waited: number;
  /** Bytes its connection had brought before. */
  before: number;
}

/**
 * Ends requests whose bodies come slower than anybody has to send: a connection, and what was read
 * of its body, would be held for as long as the client likes. Only the time counts in which we wait
 * for the client, and not the time that it waits for us.
 */
export class BodyPace {
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
      // Something came that nobody took yet. What is left of a request that was answered, nobody will.
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

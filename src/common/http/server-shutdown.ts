import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextIteration, setTimeout as pause } from 'node:timers/promises';

/** Time within which a sent request is read, unless the event loop is busy. */
const IDLE_MS = 200;
/**
 * Maximum wait for an idle period: clients that never pause must not prevent the shutdown. A busy process
 * takes seconds to accept pending connections, one per iteration of the event loop.
 */
const MAX_WAIT_MS = 8000;
/** Iterations of the event loop in which a connection is accepted, read and parsed. */
const ITERATIONS = 3;

/**
 * Shuts down an HTTP server without losing a request that has reached the server. Node treats a
 * connection whose request is not read yet as idle and closes it, and the kernel then resets the
 * connection.
 */
export class ServerShutdown {
  private readonly responses = new Set<ServerResponse>();
  private lastArrival = 0;
  /** True if new requests should be sent to another process. */
  isEnding = false;
  private closed: Promise<void> | undefined;

  constructor(private readonly server: Server) {
    server.on('connection', () => this.recordArrival());
    server.prependListener('request', (_request, response: ServerResponse) => {
      this.recordArrival();
      if (this.isEnding) response.setHeader('Connection', 'close');
      this.responses.add(response);
      response.once('close', () => this.responses.delete(response));
    });
  }

  /**
   * Continues to serve for a while, and then stops listening. From now on, every response announces that
   * its connection is closed.
   */
  async stopListening(drainMs: number): Promise<void> {
    this.isEnding = true;
    for (const response of this.responses) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
    await pause(drainMs);
    // The process that accepts connections can still be passing some to this process.
    this.recordArrival();
    await this.waitUntilIdle();
    // An HTTP server would also close connections without a request, whose request can be on its way.
    this.closed = new Promise((resolve) => {
      NetServer.prototype.close.call(this.server, () => resolve());
    });
  }

  /** Closes connections once their requests are done. */
  async end(): Promise<void> {
    const ending = new AbortController();
    const { closed = Promise.resolve() } = this;
    void closed.then(() => ending.abort());
    while (!ending.signal.aborted) {
      await this.waitUntilIdle();
      this.server.closeIdleConnections();
      await pause(IDLE_MS, undefined, ending).catch(() => undefined);
    }
  }

  private recordArrival(): void {
    this.lastArrival = Date.now();
  }

  /** Waits until no connection and no request has arrived for a while, and none waits to be read. */
  private async waitUntilIdle(): Promise<void> {
    const end = Date.now() + MAX_WAIT_MS;
    do {
      await pause(this.remainingIdleMs());
      for (let iteration = 0; iteration < ITERATIONS; iteration += 1) await nextIteration();
    } while (this.remainingIdleMs() > 0 && Date.now() < end);
  }

  private remainingIdleMs(): number {
    return Math.max(0, this.lastArrival + IDLE_MS - Date.now());
  }
}

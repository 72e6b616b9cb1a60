import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';

/** A request that was sent is read within this time, unless the event loop is busy. */
const QUIET_MS = 200;
/**
 * Senders that never pause do not keep a process from its end. A busy process takes seconds to accept
 * what has reached it: one connection in a turn of the event loop.
 */
const LONGEST_WAIT_MS = 8000;
/** Turns of the event loop in which a connection is accepted, read and parsed. */
const TURNS = 3;

/**
 * Ends an HTTP server without losing a request that has reached it. Node closes a connection whose
 * request is not read yet as an idle one, and the kernel then resets it.
 */
export class ServerShutdown {
  private readonly responses = new Set<ServerResponse>();
  private lastNews = 0;
  private hasBegun = false;
  private closed: Promise<void> | undefined;

  constructor(private readonly server: Server) {
    server.on('connection', () => this.note());
    server.prependListener('request', (_request, response: ServerResponse) => {
      this.note();
      if (this.hasBegun) response.setHeader('Connection', 'close');
      this.responses.add(response);
      response.once('close', () => this.responses.delete(response));
    });
  }

  /** True when new requests should be sent to another process. */
  get isEnding(): boolean {
    return this.hasBegun;
  }

  /**
   * Goes on serving for a while, and stops listening. Every response says from now on that its
   * connection is closed.
   */
  async stopListening(drainMs: number): Promise<void> {
    this.hasBegun = true;
    for (const response of this.responses) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
    await pause(drainMs);
    // Connections may be on their way from the process that has accepted them.
    this.note();
    await this.quiet();
    // An HTTP server closes connections without a request, too, which may have been sent.
    this.closed = new Promise((resolve) => {
      NetServer.prototype.close.call(this.server, () => resolve());
    });
  }

  /** Closes connections when their requests are answered. */
  async end(): Promise<void> {
    const ending = new AbortController();
    const { closed = Promise.resolve() } = this;
    void closed.then(() => ending.abort());
    while (!ending.signal.aborted) {
      await this.quiet();
      this.server.closeIdleConnections();
      await pause(QUIET_MS, undefined, ending).catch(() => undefined);
    }
  }

  private note(): void {
    this.lastNews = Date.now();
  }

  /** Waits until no connection and no request has come for a while, and none waits to be read. */
  private async quiet(): Promise<void> {
    const end = Date.now() + LONGEST_WAIT_MS;
    do {
      await pause(this.restOfQuiet());
      for (let turns = 0; turns < TURNS; turns += 1) await turn();
    } while (this.restOfQuiet() > 0 && Date.now() < end);
  }

  private restOfQuiet(): number {
    return Math.max(0, this.lastNews + QUIET_MS - Date.now());
  }
}

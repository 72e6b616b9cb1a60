import { createServer, type RequestListener } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import { routedByCollection } from './collection-routers.js';
import { ServerShutdown } from './server-shutdown.js';

/**
 * How long a connection may take for what. Node looks for connections that take too long only so
 * often, every half minute unless told otherwise.
 */
const LIMITS = {
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  /** Longer than the idle connections of reverse proxies, so that none writes to a closed one. */
  keepAliveTimeout: 65_000,
};

/** Express on a server whose clients cannot hold a connection by sending next to nothing. */
export class HttpAdapter extends ExpressAdapter {
  private shutdown: ServerShutdown | undefined;

  /** @param drainMs how long the server goes on serving when it is told to end */
  constructor(private drainMs = 0) {
    super(routedByCollection());
  }

  override initHttpServer(): void {
    const server = createServer(LIMITS, this.getInstance<RequestListener>());
    this.shutdown = new ServerShutdown(server);
    this.setHttpServer(server);
  }

  /** True when new requests should be sent to another process. */
  get isEnding(): boolean {
    return this.shutdown?.isEnding === true;
  }

  /** A person who ends the server at the terminal waits for it. */
  endAtOnce(): void {
    this.drainMs = 0;
  }

  override async beforeClose(): Promise<void> {
    super.beforeClose();
    await this.shutdown?.stopListening(this.drainMs);
  }

  override async close(): Promise<void> {
    await this.shutdown?.end();
  }
}

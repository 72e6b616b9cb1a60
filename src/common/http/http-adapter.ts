import { createServer, type RequestListener } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import { routedByCollection } from './collection-routers.js';
import { ServerShutdown } from './server-shutdown.js';

/** Timeouts of connections and the interval of their checks, in ms. Node's default interval is 30 seconds. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  /** Longer than the idle timeout of reverse proxies, so that no proxy writes to a closed connection. */
  keepAliveTimeout: 65_000,
};

/** Express on a server with timeouts, so that clients cannot hold connections by sending slowly. */
export class HttpAdapter extends ExpressAdapter {
  private shutdown: ServerShutdown | undefined;

  /** @param drainMs time for which the server continues to serve at shutdown */
  constructor(private drainMs = 0) {
    super(routedByCollection());
  }

  override initHttpServer(): void {
    const server = createServer(TIMEOUTS, this.getInstance<RequestListener>());
    this.shutdown = new ServerShutdown(server);
    this.setHttpServer(server);
  }

  /** True if new requests should be sent to another process. */
  get isEnding(): boolean {
    return this.shutdown?.isEnding === true;
  }

  /** Skips the drain time, for a user who stops the server in a terminal and waits for the shutdown. */
  skipDrain(): void {
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

import { createServer } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import { routedByCollection } from './collection-routers.js';

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
  constructor() {
    super(routedByCollection());
  }

  override initHttpServer(): void {
    this.setHttpServer(createServer(LIMITS, this.getInstance()));
  }
}

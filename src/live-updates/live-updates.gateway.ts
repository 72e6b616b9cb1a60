import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Logger } from '@nestjs/common';
import { WebSocketGateway, type OnGatewayConnection, type OnGatewayInit } from '@nestjs/websockets';
import type { Request } from 'express';
import type { WebSocket, WebSocketServer } from 'ws';
import { AuthenticationService } from '../auth/authentication.service.js';
import type { Actor } from '../common/access.js';
import { messageOf, Unauthenticated } from '../common/errors/errors.js';
import { assertSameSite } from '../common/http/csrf.js';
import { runInScope } from '../common/http/request-scope.js';
import { CommonServices } from '../common/rest/common-services.service.js';
import { errorResponseOf } from '../common/rest/errors.filter.js';
import { SecurityEvents } from '../common/rest/security-events.service.js';
import { InventoriesRepository } from '../inventories/inventories.repository.js';
import { JobEventsRepository } from '../runs/events/job-events.repository.js';
import { RunSignalFeed } from '../runs/live/run-signal-feed.service.js';
import { StreamSlots, type StreamSlot } from '../runs/live/stream-slots.service.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { LiveClient, type SocketCaller } from './live-client.js';

/**
 * Live updates for interfaces that read them from a websocket (docs/contract/runs.md#websocket). The
 * handshake requires a session and must come from a page of this server. The gateway verifies both, because
 * the guards of routes do not run for a handshake.
 */
@WebSocketGateway()
export class LiveUpdatesGateway
  implements OnGatewayInit<WebSocketServer>, OnGatewayConnection<WebSocket>
{
  private readonly logger = new Logger('Live');
  private readonly slots = new WeakMap<Request, StreamSlot>();

  constructor(
    private readonly authentication: AuthenticationService,
    private readonly streams: StreamSlots,
    private readonly events: SecurityEvents,
    readonly feed: RunSignalFeed,
    readonly runs: RunsRepository,
    readonly runEvents: JobEventsRepository,
    readonly inventories: InventoriesRepository,
    readonly services: CommonServices,
  ) {}

  afterInit({ options }: WebSocketServer): void {
    options.verifyClient = ({ req }, done) => {
      if (!isExpressRequest(req)) return done(false, 500);
      const scope = { actor: null, requestId: randomUUID(), sourceIp: req.ip ?? '' };
      runInScope(scope, () => this.admit(req)).then(
        () => done(true),
        (error: unknown) => {
          const { status, body, headers } = errorResponseOf(error);
          const type = { 'Content-Type': 'application/json' };
          done(false, status, JSON.stringify(body), { ...type, ...headers });
        },
      );
    };
  }

  handleConnection(client: WebSocket, request: Request): void {
    const slot = this.slots.get(request);
    if (!slot) {
      client.terminate();
      return;
    }
    const caller: SocketCaller = { request, authenticate: () => this.authenticate(request) };
    new LiveClient(client, caller, this).serve(slot.signal).catch((error: unknown) => {
      this.logger.warn({ message: 'websocket ended', reason: messageOf(error) });
      client.close(1011);
    });
  }

  /** @throws Forbidden, Unauthenticated, TooManyRequests */
  private async admit(request: Request): Promise<void> {
    try {
      assertSameSite(request);
      const actor = await this.authenticate(request);
      if (!actor) throw new Unauthenticated();
      const slot = await this.streams.take(actor.id, null);
      this.slots.set(request, slot);
      request.socket.once('close', slot.free);
      if (request.socket.destroyed) slot.free();
    } catch (error) {
      this.events.recordRefusal(error, request);
      throw error;
    }
  }

  /** Returns the user of the session, which a websocket does not extend. */
  private authenticate({ headers: { cookie }, secure, ip = '' }: Request): Promise<Actor | null> {
    const headers = cookie === undefined ? {} : { cookie };
    return this.authentication.authenticate({
      method: 'GET',
      ip,
      headers,
      secure,
      extendsSession: false,
    });
  }
}

/** Returns true for requests with the prototype that `LiveAdapter` sets. */
const isExpressRequest = (request: IncomingMessage): request is Request => 'secure' in request;

import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import {
  DomainError,
  LoginRefused,
  SECURITY_EVENTS,
  type SecurityEvent,
} from '../errors/errors.js';
import { currentScope } from '../http/request-scope.js';

/**
 * Properties of a request that are logged. The query string and the body are left out because they can
 * contain secrets.
 */
export interface RefusedRequest {
  method: string;
  path: string;
}

/** Maximum logged length of a path in characters. Clients can send paths of any length. */
const MAX_PATH = 256;

/** Returns a path as it is logged. */
export const loggedPath = (path: string): string => path.slice(0, MAX_PATH);

/**
 * Logs every security event in one line and counts the events by kind
 * (docs/contract/operations.md#security-events).
 */
@Injectable()
export class SecurityEvents {
  private readonly logger = new Logger('Security');

  /** Counter for the metrics registry. Every kind is present from the start. */
  readonly counter = new Counter({
    name: 'controller_security_events_total',
    help: 'Requests that were refused, by kind.',
    labelNames: ['event'],
    registers: [],
  });

  constructor() {
    for (const event of SECURITY_EVENTS) this.counter.inc({ event }, 0);
  }

  /** Records an error if it is a refusal. */
  recordRefusal(error: unknown, request: RefusedRequest): void {
    if (!(error instanceof DomainError) || error.event === null) return;
    this.record(error.event, request, error instanceof LoginRefused ? error.account : null);
  }

  /** @param account username of a refused login, or of the user whose second factor was removed */
  record(event: SecurityEvent, { method, path }: RefusedRequest, account?: string | null): void {
    this.counter.inc({ event });
    const scope = currentScope();
    const user = account ?? scope?.actor?.username;
    this.logger.warn({
      message: event === 'second_factor_removed' ? 'changed' : 'refused',
      event,
      method,
      path: loggedPath(path),
      source: scope?.sourceIp,
      ...(user === undefined ? {} : { user }),
    });
  }
}

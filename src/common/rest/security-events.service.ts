import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import {
  DomainError,
  LoginRefused,
  SECURITY_EVENTS,
  type SecurityEvent,
} from '../errors/errors.js';
import { currentScope } from '../http/request-scope.js';

/** What a line tells of a request. The query string and the body may hold secrets: they stay out. */
export interface RefusedRequest {
  method: string;
  path: string;
}

/** A path is as long as a client likes. */
const MAX_PATH = 256;

/**
 * What an operator wants to know of refusals: one line of the log each, and a count by kind
 * (docs/contract/operations.md#security-events).
 */
@Injectable()
export class SecurityEvents {
  private readonly logger = new Logger('Security');

  /** For the registry of the metrics; each kind is there from the start. */
  readonly counter = new Counter({
    name: 'controller_security_events_total',
    help: 'Requests that were refused, by kind.',
    labelNames: ['event'],
    registers: [],
  });

  constructor() {
    for (const event of SECURITY_EVENTS) this.counter.inc({ event }, 0);
  }

  /** Tells of an error, if it is a refusal. */
  refused(error: unknown, request: RefusedRequest): void {
    if (!(error instanceof DomainError) || error.event === null) return;
    this.record(error.event, request, error instanceof LoginRefused ? error.account : null);
  }

  /** @param account the user somebody tried to be */
  record(event: SecurityEvent, { method, path }: RefusedRequest, account?: string | null): void {
    this.counter.inc({ event });
    const scope = currentScope();
    const user = account ?? scope?.actor?.username;
    this.logger.warn({
      message: 'refused',
      event,
      method,
      path: path.slice(0, MAX_PATH),
      source: scope?.sourceIp,
      ...(user === undefined ? {} : { user }),
    });
  }
}

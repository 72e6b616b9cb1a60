import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { MEGABYTE } from '../../config/http-settings.js';
import { Settings } from '../../config/settings.js';
import { MAX_VALUES } from '../fields/json-bounds.js';
import { DomainError } from '../errors/errors.js';
import { bodyReader, hasBody, type BodyReader } from './body.js';
import { UnauthenticatedBytes } from './unauthenticated-bytes.service.js';

/** Maximum body size of an unauthenticated sender, in bytes. */
export const ANONYMOUS_LIMIT = 65_536;

/** Path of the bulk operations, which accept larger bodies than other routes with a parsed body. */
const BULK = /^\/api\/v2\/bulk(\/|$)/i;

/**
 * Reads bodies within the limits of their URLs. The sender must be known first, so the body interceptor
 * reads bodies after the guards. Only forms of pages are read earlier
 * (docs/contract/conventions.md#order-of-checks).
 */
@Injectable()
export class RequestBodies {
  private readonly usual: BodyReader;
  private readonly bulk: BodyReader;
  private readonly unauthenticated: BodyReader;
  private readonly faults = new WeakMap<object, DomainError>();

  constructor(
    { BODY_LIMIT, BULK_BODY_LIMIT }: Settings,
    private readonly unauthenticatedBytes: UnauthenticatedBytes,
  ) {
    this.usual = bodyReader(BODY_LIMIT, MAX_VALUES);
    this.bulk = bodyReader(BULK_BODY_LIMIT, bulkValues(BULK_BODY_LIMIT));
    this.unauthenticated = bodyReader(Math.min(ANONYMOUS_LIMIT, BODY_LIMIT), MAX_VALUES);
  }

  /**
   * @param hasActor true if the sender is authenticated
   * @throws BadRequest, PayloadTooLarge, UnsupportedMediaType; Unavailable if unauthenticated senders
   *   send too much
   */
  async read(request: Request, response: Response, hasActor = 'actor' in request): Promise<void> {
    if (hasActor) {
      return (BULK.test(request.path) ? this.bulk : this.usual)(request, response);
    }
    if (hasBody(request)) {
      const length = Number(request.headers['content-length'] ?? ANONYMOUS_LIMIT);
      this.unauthenticatedBytes.add(response, Math.min(length, ANONYMOUS_LIMIT));
    }
    return this.unauthenticated(request, response);
  }

  /**
   * Reads a body before authentication. An error of the body is reported at its place in the order of
   * checks.
   */
  async readEarly(request: Request, response: Response, hasActor: boolean): Promise<void> {
    try {
      await this.read(request, response, hasActor);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.faults.set(request, error);
      request.body = undefined;
    }
  }

  /** Returns the error of a body that was read early. */
  faultOf(request: object): DomainError | undefined {
    return this.faults.get(request);
  }
}

/** Returns the maximum number of values in a bulk body, which grows with a body limit above one megabyte. */
const bulkValues = (limitBytes: number): number =>
  Math.max(MAX_VALUES, (limitBytes - MEGABYTE) / 2);

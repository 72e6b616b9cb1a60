import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { MEGABYTE } from '../../config/http-settings.js';
import { Settings } from '../../config/settings.js';
import { MAX_VALUES } from '../fields/json-bounds.js';
import { DomainError } from '../errors/errors.js';
import { bodyReader, hasBody, type BodyReader } from './body.js';
import { StrangerBytes } from './stranger-bytes.service.js';

/** Largest body of somebody who has not said who he is, in bytes. */
export const STRANGER_LIMIT = 65_536;

/** The bulk operations take larger bodies than everything else. */
const BULK = /^\/api\/v2\/bulk(\/|$)/i;

/**
 * Reads bodies within the limits of their URLs. Who sends one has to be known before: the body
 * interceptor reads behind the guards. Only forms of pages are read earlier
 * (docs/contract/conventions.md#order-of-checks).
 */
@Injectable()
export class RequestBodies {
  private readonly usual: BodyReader;
  private readonly bulk: BodyReader;
  private readonly strangers: BodyReader;
  private readonly faults = new WeakMap<object, DomainError>();

  constructor(
    { BODY_LIMIT, BULK_BODY_LIMIT }: Settings,
    private readonly held: StrangerBytes,
  ) {
    this.usual = bodyReader(BODY_LIMIT, MAX_VALUES);
    this.bulk = bodyReader(BULK_BODY_LIMIT, bulkValues(BULK_BODY_LIMIT));
    this.strangers = bodyReader(Math.min(STRANGER_LIMIT, BODY_LIMIT), MAX_VALUES);
  }

  /**
   * @param isKnown whether the sender has proved who he is
   * @throws BadRequest, PayloadTooLarge, UnsupportedMediaType; Unavailable when strangers send too much
   */
  async read(request: Request, response: Response, isKnown = 'actor' in request): Promise<void> {
    if (isKnown) {
      return (BULK.test(request.path) ? this.bulk : this.usual)(request, response);
    }
    if (hasBody(request)) {
      const length = Number(request.headers['content-length'] ?? STRANGER_LIMIT);
      this.held.hold(response, Math.min(length, STRANGER_LIMIT));
    }
    return this.strangers(request, response);
  }

  /** Reads before anybody is known; what is wrong with the body is told when its turn has come. */
  async readEarly(request: Request, response: Response, isKnown: boolean): Promise<void> {
    try {
      await this.read(request, response, isKnown);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.faults.set(request, error);
      request.body = undefined;
    }
  }

  /** What was wrong with a body that was read early. */
  faultOf(request: object): DomainError | undefined {
    return this.faults.get(request);
  }
}

/** Whoever allows bulk requests more than a megabyte allows what stands in it. */
const bulkValues = (limitBytes: number): number =>
  Math.max(MAX_VALUES, (limitBytes - MEGABYTE) / 2);

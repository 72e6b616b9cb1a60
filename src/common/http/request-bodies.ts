import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Settings } from '../../config/settings.js';
import { DomainError } from '../errors/errors.js';
import { bodyReader, type BodyReader } from './body.js';

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
  private readonly faults = new WeakMap<object, DomainError>();

  constructor({ BODY_LIMIT, BULK_BODY_LIMIT }: Settings) {
    this.usual = bodyReader(BODY_LIMIT);
    this.bulk = bodyReader(BULK_BODY_LIMIT);
  }

  /** @throws BadRequest, PayloadTooLarge, UnsupportedMediaType */
  read(request: Request, response: Response): Promise<void> {
    return (BULK.test(request.path) ? this.bulk : this.usual)(request, response);
  }

  /** Reads before anybody is known; what is wrong with the body is told when its turn has come. */
  async readEarly(request: Request, response: Response): Promise<void> {
    try {
      await this.read(request, response);
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

import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../../config/settings.js';
import { Unavailable } from '../errors/errors.js';

const RETRY_SECONDS = 1;

/** Counts the bytes of bodies that this process stores for unauthenticated senders. */
@Injectable()
export class UnauthenticatedBytes {
  private total = 0;
  private readonly shares = new WeakMap<Response, number>();

  constructor(private readonly settings: Settings) {}

  /**
   * Counts bytes until the request is over.
   *
   * @throws Unavailable if the limit is reached
   */
  add(response: Response, bytes: number): void {
    // If the client disconnected during authentication, there is no further close event to release the
    // bytes.
    if (response.closed) return;
    if (this.total + bytes > this.settings.UNAUTHENTICATED_BYTES_MAX) {
      throw new Unavailable(RETRY_SECONDS);
    }
    const share = this.shares.get(response);
    if (share === undefined) response.once('close', () => this.release(response));
    this.shares.set(response, (share ?? 0) + bytes);
    this.total += bytes;
  }

  private release(response: Response): void {
    this.total -= this.shares.get(response) ?? 0;
    this.shares.delete(response);
  }
}

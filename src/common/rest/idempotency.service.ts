import { exactJson, parseExact } from '../exact-json.js';
import { memberOf } from '../records.js';
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { BadRequest, Conflict } from '../errors/errors.js';
import { Reply } from '../http/reply.js';
import type { ApiRequest } from '../http/request.js';
import type { QueryParameters } from '../list/query.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

export const MAX_KEY_LENGTH = 255;
const REFUSED = 400;

/** What came of a request: an answer, or a refusal that stands. */
export type Outcome = Reply<number> | BadRequest;

/** What makes two requests the same one, besides their content. */
export interface KeyedRequest {
  /** The `Idempotency-Key` as it was sent; undefined: the request is simply done. */
  key: string | undefined;
  method: string;
  path: string;
  query: QueryParameters;
  callerId: number;
}

export const keyedRequest = (request: ApiRequest): KeyedRequest => ({
  key: request.get('Idempotency-Key'),
  method: request.method,
  path: request.path,
  query: request.query,
  callerId: request.actor.id,
});

/**
 * Gives a repeated request its first answer instead of doing its work again. Requests without the
 * header are simply done. A refused request leaves nothing behind: its key may be used again.
 */
@Injectable()
export class Idempotency {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeysRepository,
  ) {}

  /**
   * Does `work` once for each key of a caller and URL. Work and record are one transaction: two
   * requests with one key wait for each other.
   *
   * @param content the body, or what stands for one that is not parsed
   * @param work a refusal that it throws leaves nothing behind; one that it gives back stands: what
   *   was written is kept, and the key gets the refusal again
   * @throws Conflict when the key came with another body, BadRequest for a key that cannot be one,
   *   and the refusal that work gave back
   */
  async once(
    request: KeyedRequest,
    content: unknown,
    work: () => Promise<Outcome>,
  ): Promise<Reply<number>> {
    const outcome =
      request.key === undefined
        ? await work()
        : await this.outcome(request, request.key, content, work);
    if (outcome instanceof BadRequest) throw outcome;
    return outcome;
  }

  private async outcome(
    { method, path, query, callerId }: KeyedRequest,
    header: string,
    content: unknown,
    work: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const key = digest([method, path.replace(/\/+$/, ''), callerId, checkedKey(header)]);
    const body = digest([JSON.stringify(query), content]);
    return this.database.transaction(async () => {
      if (!(await this.keys.take(key, body))) return this.replay(key, body);
      const outcome = await work();
      await this.store(key, outcome);
      return outcome;
    });
  }

  private async replay(key: string, request: string): Promise<Outcome> {
    const stored = await this.keys.answerOf(key);
    if (!stored || stored.request !== request) {
      throw new Conflict('The Idempotency-Key was used for a request with another body.');
    }
    const { status, location, body } = stored;
    const content: unknown = body === '' ? undefined : parseExact(body);
    if (status === REFUSED) return new BadRequest(String(memberOf(content, 'detail')));
    return new Reply(status, content, {
      'Idempotent-Replayed': 'true',
      ...(location === null ? {} : { Location: location }),
    });
  }

  private async store(key: string, outcome: Outcome): Promise<void> {
    const { status, body, headers } =
      outcome instanceof BadRequest ? new Reply(REFUSED, { detail: outcome.detail }) : outcome;
    await this.keys.store(key, {
      status,
      location: headers.Location ?? null,
      body: body === undefined ? '' : exactJson(body),
    });
  }
}

function checkedKey(header: string): string {
  if (header === '' || header.length > MAX_KEY_LENGTH) {
    throw new BadRequest(`Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters.`);
  }
  return header;
}

const digest = (parts: readonly unknown[]): string =>
  createHash('sha256').update(exactJson(parts)).digest('base64url');

import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { exactJson, parseExact } from '../exact-json.js';
import { memberOf } from '../records.js';
import { Database } from '../../database/database.js';
import { BadRequest, Conflict } from '../errors/errors.js';
import { Reply } from '../http/reply.js';
import type { ApiRequest } from '../http/request.js';
import type { QueryParameters } from '../list/query.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';
import { withoutTrailing } from '../fields/text.js';

export const MAX_KEY_LENGTH = 255;
const BAD_REQUEST = 400;

/** Stored result of a request: a response or a refusal. */
export type KeyedOutcome = Reply<number> | BadRequest;

/** Identity of a request. The query is compared together with the content. */
export interface KeyedRequest {
  /** `Idempotency-Key` header as sent. Undefined: the request runs without idempotency. */
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
 * Replays the first response of a repeated request instead of running it again. Requests without the
 * header run normally. A request that fails by an exception, or whose response has the status of an error,
 * leaves its key unused.
 */
@Injectable()
export class Idempotency {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeysRepository,
  ) {}

  /**
   * Runs `work` once for each combination of key, caller, method and path. The work and the record of its
   * response share one transaction, so two concurrent requests with one key wait for each other.
   *
   * @param content the body, or a substitute for a body that is not parsed
   * @param work throws a refusal to roll back everything, including the key; returns a refusal to commit
   *   what was written and to replay the refusal for the key
   * @throws Conflict if the key was used with another body; BadRequest if the key is invalid, or the
   *   refusal that `work` returned
   */
  async once(
    request: KeyedRequest,
    content: unknown,
    work: () => Promise<KeyedOutcome>,
  ): Promise<Reply<number>> {
    const outcome =
      request.key === undefined
        ? await work()
        : await this.runOrReplay(request, request.key, content, work);
    if (outcome instanceof BadRequest) throw outcome;
    return outcome;
  }

  private async runOrReplay(
    { method, path, query, callerId }: KeyedRequest,
    header: string,
    content: unknown,
    work: () => Promise<KeyedOutcome>,
  ): Promise<KeyedOutcome> {
    const key = digest([method, withoutTrailing(path, '/'), callerId, checkedKey(header)]);
    const body = digest([JSON.stringify(query), content]);
    return this.database.transaction(async () => {
      if (!(await this.keys.claim(key, body))) return this.replay(key, body);
      const outcome = await work();
      const isRefused = outcome instanceof Reply && outcome.status >= BAD_REQUEST;
      await (isRefused ? this.keys.delete({ key }) : this.store(key, outcome));
      return outcome;
    });
  }

  private async replay(key: string, request: string): Promise<KeyedOutcome> {
    const stored = await this.keys.findOneBy({ key });
    if (!stored || stored.request !== request) {
      throw new Conflict('The Idempotency-Key was used for a request with another body.');
    }
    const { status, location, body } = stored;
    const content: unknown = body === '' ? undefined : parseExact(body);
    if (status === BAD_REQUEST) return new BadRequest(String(memberOf(content, 'detail')));
    return new Reply(status, content, {
      'Idempotent-Replayed': 'true',
      ...(location === null ? {} : { Location: location }),
    });
  }

  private async store(key: string, outcome: KeyedOutcome): Promise<void> {
    const { status, body, headers } =
      outcome instanceof BadRequest ? new Reply(BAD_REQUEST, { detail: outcome.detail }) : outcome;
    const stored = body === undefined ? '' : exactJson(body);
    await this.keys.update({ key }, { status, location: headers.Location ?? null, body: stored });
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

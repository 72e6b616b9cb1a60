import { Injectable } from '@nestjs/common';
import { Outbox } from '../common/queue/outbox.service.js';
import type { Row } from '../common/resource/define-resource.js';
import { raw, sql, type Sql } from '../database/sql.js';
import type { WebhookServiceName } from '../code-hosts/services.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allRuns } from '../runs/runs.repository.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookStatusPost } from './webhook-status-post.entity.js';

export const STATUS_POSTS_QUEUE = 'status_posts';

/**
 * Duration of a lease, in seconds. Longer than any attempt: 30 s to fetch the token from a secret
 * store, and 15 s for the request.
 */
const LEASE_SECONDS = 60;
/** Age from which a failed post is no longer retried, in hours, as for notifications. */
const GIVE_UP_HOURS = 8;

const TOO_MANY_REQUESTS = 429;

/** One entry of a post's log. */
export interface StatusPostAttempt {
  number: number;
  /** Time of the attempt: ISO 8601, by the database's clock. */
  at: string;
  /** Status code of the response; null without a response. */
  answer: number | null;
  detail: string;
  duration_ms: number | null;
}

/** Result of an attempt, without the number and time that the repository adds. */
export type NewAttempt = Omit<StatusPostAttempt, 'number' | 'at'>;

export interface PendingStatus {
  jobId: number;
  status: string;
  /** Name of the status at the service. */
  state: string;
}

/** A post whose lease this process holds. */
export interface LeasedPost {
  id: number;
  jobId: number;
  /** Resource type of the run. */
  runType: string;
  attempt: number;
  status: string;
  url: string;
  /** Number of attempts in the log so far. */
  tries: number;
  /** True if the post has waited for so long that it is not postponed again. */
  overdue: boolean;
  service: WebhookServiceName;
  credentialId: number | null;
  organizationId: number | null;
  /** Template of the run, with its name at launch; null if it was deleted. */
  template: { id: number; name: string } | null;
}

/**
 * The rows of status posts. A worker updates a leased post only if no other worker has leased it since
 * (docs/contract/operations.md#fencing).
 */
@Injectable()
export class StatusPostsRepository extends TableRepository<Row> {
  constructor(
    @InjectRepository(WebhookStatusPost) repository: Repository<WebhookStatusPost>,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly outbox: Outbox,
  ) {
    super(repository);
  }

  /**
   * Stores a post and its outbox row for each job whose delivery has a status URL, in the caller's
   * transaction.
   */
  async add(pending: readonly PendingStatus[]): Promise<void> {
    if (pending.length === 0) return;
    const column = <Key extends keyof PendingStatus>(key: Key): PendingStatus[Key][] =>
      pending.map((status) => status[key]);
    const rows = await this.database.rows<{ id: number }>(sql`
      INSERT INTO webhook_status_posts (job_id, status, state, url)
      SELECT run.id, given.status, given.state, del.status_api
      FROM unnest(${column('jobId')}::bigint[], ${column('status')}::text[],
        ${column('state')}::text[]) AS given (job_id, status, state)
      JOIN (${allRuns()}) run ON run.id = given.job_id
      JOIN (${this.deliveries.facts()}) del ON del.id = run.webhook_delivery_id
        AND del.status_api IS NOT NULL
      RETURNING id`);
    await this.outbox.add(
      STATUS_POSTS_QUEUE,
      rows.map(({ id }) => id),
    );
  }

  /** Returns the job of a post that is still to be sent; null otherwise. */
  async jobOf(postId: number): Promise<number | null> {
    const row = await this.database.row<{ job_id: number }>(sql`
      SELECT job_id FROM webhook_status_posts WHERE id = ${postId} AND outcome = 'pending'`);
    return row?.job_id ?? null;
  }

  /**
   * Leases the oldest unsent post of a job, if it is due and no other worker leases it. The posts of
   * a job are sent one at a time, in order. First marks posts that were leased before as superseded if
   * a newer post exists; after a 429 only once the delay is over, because the newer post is also a
   * request to the service.
   */
  async lease(jobId: number): Promise<LeasedPost | null> {
    await this.supersede(jobId);
    const leased = await this.database.row<LeasedPost>(sql`
      WITH leased AS (
        UPDATE webhook_status_posts post SET attempt = post.attempt + 1,
          lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
        WHERE post.id = (
            SELECT id FROM webhook_status_posts
            WHERE job_id = ${jobId} AND outcome = 'pending' ORDER BY id LIMIT 1 FOR UPDATE)
          AND post.next_attempt <= now() AND (post.lease_until IS NULL OR post.lease_until < now())
        RETURNING post.*)
      SELECT leased.id, leased.job_id AS "jobId", run.type AS "runType", leased.attempt,
        leased.status, leased.url, json_array_length(leased.attempts) AS tries,
        leased.created < now() - make_interval(hours => ${GIVE_UP_HOURS}) AS overdue,
        run.webhook_service AS service, run.webhook_credential_id AS "credentialId",
        run.organization_id AS "organizationId",
        CASE WHEN run.unified_job_template_id IS NOT NULL
          THEN json_build_object('id', run.unified_job_template_id, 'name', run.name) END AS template
      FROM leased JOIN (${allRuns()}) run ON run.id = leased.job_id`);
    return leased ?? null;
  }

  /** Stores the final outcome of a post. */
  finish(
    post: LeasedPost,
    outcome: 'sent' | 'failed',
    reason: string,
    attempt?: NewAttempt,
  ): Promise<void> {
    return this.database.transaction(async () => {
      const updatedRows = await this.setLeased(
        post,
        attempt,
        sql`outcome = ${outcome}, reason = ${reason},
        next_attempt = NULL, finished = now()`,
      );
      if (updatedRows > 0) await this.outbox.acknowledge(STATUS_POSTS_QUEUE, post.id);
    });
  }

  /** Postpones a post; `attempt` is absent if there was no attempt. */
  postpone(post: LeasedPost, seconds: number, reason: string, attempt?: NewAttempt): Promise<void> {
    return this.database.transaction(async () => {
      const updatedRows = await this.setLeased(
        post,
        attempt,
        sql`reason = ${reason},
        next_attempt = now() + make_interval(secs => ${seconds}::float8)`,
      );
      if (updatedRows > 0) await this.outbox.postpone(STATUS_POSTS_QUEUE, post.id, seconds);
    });
  }

  /**
   * Returns the seconds until the oldest unsent post of the same job is due and not leased; null if
   * this post is finished.
   */
  async waitSeconds(postId: number): Promise<number | null> {
    const row = await this.database.row<{ seconds: number }>(sql`
      SELECT greatest(1, ceil(extract(epoch FROM
        greatest(first.next_attempt, first.lease_until, now()) - now())))::int AS seconds
      FROM webhook_status_posts post
      JOIN LATERAL (
        SELECT next_attempt, lease_until FROM webhook_status_posts
        WHERE job_id = post.job_id AND outcome = 'pending' ORDER BY id LIMIT 1) first ON TRUE
      WHERE post.id = ${postId} AND post.outcome = 'pending'`);
    return row?.seconds ?? null;
  }

  private supersede(jobId: number): Promise<void> {
    return this.database.transaction(async () => {
      const superseded = await this.database.rows<{ id: number }>(sql`
        UPDATE webhook_status_posts post SET outcome = 'superseded', finished = now(),
          next_attempt = NULL, lease_until = NULL
        WHERE post.job_id = ${jobId} AND post.outcome = 'pending' AND post.attempt > 0
          AND (post.lease_until IS NULL OR post.lease_until < now())
          AND (post.next_attempt <= now()
            OR post.attempts -> -1 ->> 'answer' IS DISTINCT FROM ${String(TOO_MANY_REQUESTS)})
          AND EXISTS (SELECT 1 FROM webhook_status_posts later
            WHERE later.job_id = post.job_id AND later.id > post.id AND later.outcome = 'pending')
        RETURNING post.id`);
      await this.outbox.acknowledge(STATUS_POSTS_QUEUE, ...superseded.map(({ id }) => id));
    });
  }

  private setLeased(post: LeasedPost, attempt: NewAttempt | undefined, sets: Sql): Promise<number> {
    return this.database.execute(sql`
      UPDATE webhook_status_posts SET lease_until = NULL, ${sets}, ${attemptLogUpdate(post, attempt)}
      WHERE id = ${post.id} AND attempt = ${post.attempt} AND outcome = 'pending'`);
  }
}

/** Returns the SQL condition that a run has a status post that is still to be sent. */
export const hasUnsentPosts = (run: Sql): Sql => sql`
  EXISTS (SELECT 1 FROM webhook_status_posts post
    WHERE post.job_id = ${run} AND post.outcome = 'pending')`;

function attemptLogUpdate(post: LeasedPost, attempt: NewAttempt | undefined): Sql {
  if (!attempt) return raw('attempts = attempts');
  const entry = JSON.stringify({ number: post.tries + 1, ...attempt });
  return sql`attempts = (attempts::jsonb
    || (${entry}::jsonb || jsonb_build_object('at', now())))::json`;
}

/**
 * Sends status posts without a worker process: `work(job)` handles the job's messages as a worker does,
 * `makeDue(job)` makes waiting posts due.
 *
 *   const bench = await StatusPostBench.start(test);
 *   const job = await bench.launch(await bench.hook('service_a'));
 *   await bench.work(job);
 *   expect(bench.sink.last.body)…
 */
import { BreakersRepository } from '../../src/outbound/breakers.repository.js';
import { CircuitBreaker } from '../../src/outbound/circuit-breaker.service.js';
import { OutboundClient } from '../../src/outbound/outbound-client.js';
import { Outbox } from '../../src/common/queue/outbox.service.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { Settings } from '../../src/config/settings.js';
import { CredentialSecrets } from '../../src/credentials/credential-secrets.service.js';
import { sql } from '../../src/database/sql.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import type { JobStatus } from '../../src/runs/unified-job.entity.js';
import { BaseUrl } from '../../src/settings/base-url.service.js';
import type { WebhookServiceName } from '../../src/code-hosts/services.js';
import { StatusPostComposer } from '../../src/webhooks/status-post-composer.service.js';
import { StatusPoster } from '../../src/webhooks/status-poster.handler.js';
import { StatusPostsRepository } from '../../src/webhooks/status-posts.repository.js';
import type { TestApp } from './boot.js';
import { HttpSink } from './fakes/http-sink.js';
import { COMMITS } from './payloads/sample.js';
import { addHook, type Hook, type SentEvent } from './webhooks.js';
import { Breaker } from '../../src/outbound/breaker.entity.js';

/** Token that must not appear in stored or printed texts. */
export const TOKEN = 'canary-token-0123456789';

const REF = COMMITS.after;
const RESPONSE_TIMEOUT_MS = 400;

/** Event of each service whose statuses go to `url`, and the path of the status. */
export const STATUS_EVENTS: Record<
  WebhookServiceName,
  (url: string) => SentEvent & { path: string }
> = {
  service_a: (url) => ({
    event: 'push',
    payload: { after: REF, repository: { statuses_url: `${url}/repos/o/r/statuses/{sha}` } },
    path: `/repos/o/r/statuses/${REF}`,
  }),
  service_b: (url) => ({
    event: 'Push Hook',
    payload: {
      checkout_sha: REF,
      project: { id: 15, web_url: `${url}/code/group/site`, path_with_namespace: 'group/site' },
    },
    path: `/code/api/v4/projects/15/statuses/${REF}`,
  }),
  service_c_dc: (url) => ({
    event: 'repo:refs_changed',
    payload: {
      actor: { links: { self: [{ href: `${url}/scm/users/admin` }] } },
      changes: [{ toHash: REF }],
    },
    path: `/scm/rest/build-status/1.0/commits/${REF}`,
  }),
};

/** Fixture with the fake service and the sender of posts. */
export class StatusPostBench {
  /** Fake service, which `reset` replaces. */
  sink!: HttpSink;

  private constructor(
    private readonly test: TestApp,
    private readonly client: OutboundClient,
  ) {}

  static async start(test: TestApp): Promise<StatusPostBench> {
    const client = new OutboundClient({
      allow: ['127.0.0.0/8'],
      userAgent: 'automation-controller',
      totalTimeoutMs: RESPONSE_TIMEOUT_MS,
    });
    const bench = new StatusPostBench(test, client);
    bench.sink = await HttpSink.start();
    return bench;
  }

  /** Replaces the fake service by a new one without recorded requests. */
  async reset(): Promise<void> {
    await this.sink.close();
    this.sink = await HttpSink.start();
  }

  async close(): Promise<void> {
    await this.client.onApplicationShutdown();
    await this.sink.close();
  }

  poster(): StatusPoster {
    const { app, database } = this.test;
    const get = <T>(token: abstract new (...args: never[]) => T): T =>
      app.get<T>(token as never, { strict: false });
    const composer = new StatusPostComposer(
      get(CredentialSecrets),
      get<Settings>(Settings as never),
      get(BaseUrl),
    );
    const breaker = new CircuitBreaker(
      new BreakersRepository(database.manager.getRepository(Breaker)),
    );
    return new StatusPoster(
      get(StatusPostsRepository),
      composer,
      this.client,
      breaker,
      get(Outbox),
    );
  }

  /** Adds a webhook that posts statuses to a template, by default to a new job template. */
  async hook(
    service: WebhookServiceName,
    inputs: Record<string, string> = { host: this.sink.url },
    template?: Row,
  ): Promise<Hook> {
    const target = template ?? (await this.test.make.jobTemplate());
    const hook = await addHook(this.test, target, service);
    const credential = await this.test.make.credential({
      namespace: `${service}_token`,
      inputs: { token: TOKEN, ...inputs },
    });
    await this.test.database.execute(sql`
      UPDATE unified_job_templates SET webhook_credential_id = ${credential.id}
      WHERE id = ${hook.template.id}`);
    return hook;
  }

  /**
   * Sends the service's event.
   * @returns id of the pending job
   */
  async launch(hook: Hook): Promise<number> {
    const { body } = await hook.send(STATUS_EVENTS[hook.service](this.sink.url)).expect(202);
    return body.job as number;
  }

  async move(job: number, ...statuses: JobStatus[]): Promise<void> {
    for (const to of statuses) {
      const row = await this.test.database.row<{ status: JobStatus }>(
        sql`SELECT status FROM unified_jobs WHERE id = ${job}`,
      );
      const transitions = this.test.app.get(RunTransitions, { strict: false });
      await transitions.move([job], { from: [row!.status], to });
    }
  }

  /** Returns the job's posts, with the seconds until the next attempt as `wait`. */
  posts(job: number): Promise<Row[]> {
    return this.test.database.rows<Row>(sql`
      SELECT *, extract(epoch FROM next_attempt - now())::float8 AS wait
      FROM webhook_status_posts WHERE job_id = ${job} ORDER BY id`);
  }

  async outcomes(job: number): Promise<unknown[]> {
    return (await this.posts(job)).map(({ status, outcome }) => [status, outcome]);
  }

  /** Returns the messages about the job's posts, in order. */
  async messages(job: number): Promise<number[]> {
    const rows = await this.test.database.rows<{ subject_id: number }>(sql`
      SELECT subject_id FROM outbox WHERE queue = 'status_posts'
        AND subject_id IN (SELECT id FROM webhook_status_posts WHERE job_id = ${job})
      ORDER BY id`);
    return rows.map(({ subject_id }) => subject_id);
  }

  async work(job: number): Promise<void> {
    for (const id of await this.messages(job)) await this.poster().handle(id);
  }

  async makeDue(job: number): Promise<void> {
    await this.test.database.execute(sql`
      UPDATE webhook_status_posts SET next_attempt = now()
      WHERE job_id = ${job} AND outcome = 'pending'`);
  }
}

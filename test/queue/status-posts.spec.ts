import { jest } from '@jest/globals';
import { CircuitBreaker } from '../../src/common/outbound/circuit-breaker.js';
import { OutboundClient } from '../../src/common/outbound/outbound-client.js';
import { Outbox } from '../../src/common/queue/outbox.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { Settings } from '../../src/config/settings.js';
import { CredentialSecrets } from '../../src/credentials/credential-secrets.js';
import { sql } from '../../src/database/sql.js';
import { RunTransitions } from '../../src/jobs/transitions.js';
import type { JobStatus } from '../../src/jobs/unified-job.schema.js';
import { RuntimeSettings } from '../../src/settings/runtime-settings.service.js';
import type { WebhookServiceName } from '../../src/webhooks/services.js';
import { StatusPostComposer } from '../../src/webhooks/status-post-composer.js';
import { StatusPoster } from '../../src/webhooks/status-poster.js';
import { StatusPostsStore } from '../../src/webhooks/status-posts.store.js';
import { boot, type TestApp } from '../support/boot.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { COMMITS, SERVICE_ROWS } from '../support/payloads/webhooks.js';
import { armed, type Hook, type SentEvent } from '../support/webhooks.js';

const TOKEN = 'canary-token-0123456789';
const REF = COMMITS.after;

/** An event of each service, whose status URL is the sink's. */
const EVENTS: Record<WebhookServiceName, (url: string) => SentEvent & { path: string }> = {
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

const AUTHORIZATION: Record<WebhookServiceName, [header: string, value: string]> = {
  service_a: ['authorization', `token ${TOKEN}`],
  service_b: ['private-token', TOKEN],
  service_c_dc: ['authorization', `Bearer ${TOKEN}`],
};

let test: TestApp;
let client: OutboundClient;
let sink: HttpSink;

beforeAll(async () => {
  test = await boot({ settings: { BASE_URL: 'https://controller.example.com/' } });
  const allow = ['127.0.0.0/8'];
  client = new OutboundClient({ allow, userAgent: 'automation-controller', totalTimeoutMs: 400 });
});
afterAll(async () => {
  await client.close();
  await test.close();
});
beforeEach(async () => {
  sink = await HttpSink.start();
  // Full jitter may choose no wait at all.
  jest.spyOn(Math, 'random').mockReturnValue(0.9);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await sink.close();
});

function poster(): StatusPoster {
  const get = <T>(token: abstract new (...args: never[]) => T): T =>
    test.app.get<T>(token as never, { strict: false });
  const composer = new StatusPostComposer(
    get(CredentialSecrets),
    get<Settings>(Settings as never),
    get(RuntimeSettings),
  );
  const breaker = new CircuitBreaker(test.database);
  return new StatusPoster(get(StatusPostsStore), composer, client, breaker, get(Outbox));
}

/** A template whose webhooks are answered with statuses. */
async function posting(
  service: WebhookServiceName,
  inputs: Record<string, string> = { host: sink.url },
): Promise<Hook> {
  const hook = await armed(test, service);
  const credential = await test.make.credential({
    namespace: `${service}_token`,
    inputs: { token: TOKEN, ...inputs },
  });
  await test.database.execute(sql`
    UPDATE unified_job_templates SET webhook_credential_id = ${credential.id}
    WHERE id = ${hook.template.id}`);
  return hook;
}

/** Sends the service's event. @returns id of the job, which is pending */
async function launch(hook: Hook): Promise<number> {
  const { body } = await hook.send(EVENTS[hook.service](sink.url)).expect(202);
  return body.job as number;
}

async function move(job: number, to: JobStatus): Promise<void> {
  const row = await test.database.row<{ status: JobStatus }>(
    sql`SELECT status FROM unified_jobs WHERE id = ${job}`,
  );
  const transitions = test.app.get(RunTransitions, { strict: false });
  await transitions.move([job], { from: [row!.status], to });
}

const posts = (job: number): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT *, extract(epoch FROM next_attempt - now())::float8 AS wait
    FROM webhook_status_posts WHERE job_id = ${job} ORDER BY id`);

const waiting = (job: number): Promise<{ subject_id: number }[]> =>
  test.database.rows(sql`
    SELECT subject_id FROM outbox WHERE queue = 'status_posts'
      AND subject_id IN (SELECT id FROM webhook_status_posts WHERE job_id = ${job})
    ORDER BY id`);

/** What a worker does with the job's messages. */
async function work(job: number): Promise<void> {
  for (const { subject_id: id } of await waiting(job)) await poster().handle(id);
}

/** Time passes: whatever waits is due. */
const elapse = (job: number): Promise<number> =>
  test.database.execute(sql`UPDATE webhook_status_posts SET next_attempt = now()
    WHERE job_id = ${job} AND outcome = 'pending'`);

const outcomes = async (job: number): Promise<unknown[]> =>
  (await posts(job)).map(({ status, outcome }) => [status, outcome]);

describe.each(SERVICE_ROWS)('statuses of %s', (service) => {
  const WORDS: Record<WebhookServiceName, Record<string, string | null>> = {
    service_a: {
      pending: 'pending',
      running: null,
      successful: 'success',
      failed: 'failure',
      error: 'error',
      canceled: 'failure',
    },
    service_b: {
      pending: 'pending',
      running: 'running',
      successful: 'success',
      failed: 'failed',
      error: 'failed',
      canceled: 'canceled',
    },
    service_c_dc: {
      pending: 'INPROGRESS',
      running: 'INPROGRESS',
      successful: 'SUCCESSFUL',
      failed: 'FAILED',
      error: 'FAILED',
      canceled: 'FAILED',
    },
  };

  it.each(['successful', 'failed', 'error', 'canceled'] as const)(
    'are posted from pending to %s, with the words, headers and keys of the service',
    async (end) => {
      const hook = await posting(service);
      const job = await launch(hook);
      for (const status of ['waiting', 'running', end] as const) {
        await work(job);
        await move(job, status);
      }
      await work(job);
      const steps = ['pending', 'running', end].filter((step) => WORDS[service][step] !== null);
      expect(sink.requests.map(({ body }) => (JSON.parse(body) as Row).state)).toEqual(
        steps.map((step) => WORDS[service][step]),
      );
      const { path } = EVENTS[service](sink.url);
      const [header, value] = AUTHORIZATION[service];
      for (const request of sink.requests) {
        expect(request).toMatchObject({ method: 'POST', path });
        expect(request.headers[header]).toBe(value);
        expect(request.headers['content-type']).toBe('application/json');
        expect(request.headers['user-agent']).toBe('automation-controller');
      }
      expect(JSON.parse(sink.last.body)).toEqual(bodyOf(hook, job, end));
      expect(await outcomes(job)).toEqual(steps.map((step) => [step, 'sent']));
      expect(await waiting(job)).toEqual([]);
    },
  );

  function bodyOf(hook: Hook, job: number, end: string): Record<string, unknown> {
    const context = `automation-controller/${String(hook.template.name)}`;
    const words = { successful: 'was successful', failed: 'failed', error: 'ended with an error' };
    const description = `Job ${job} ${words[end as 'failed'] ?? 'was canceled'}.`;
    const url = `https://controller.example.com/api/v2/jobs/${job}/`;
    const state = WORDS[service][end];
    if (service === 'service_a') return { state, target_url: url, description, context };
    if (service === 'service_b') return { state, target_url: url, description, name: context };
    return { state, key: context, name: context, url, description };
  }
});

describe('a service in trouble', () => {
  it('is tried again after an error of its own', async () => {
    sink.answer(500);
    const job = await launch(await posting('service_b'));
    await work(job);
    const [post] = await posts(job);
    expect(post).toMatchObject({ outcome: 'pending', reason: 'The service answered 500.' });
    expect(await waiting(job)).toHaveLength(1);
    await elapse(job);
    await work(job);
    const [sent] = await posts(job);
    expect(sent).toMatchObject({ outcome: 'sent', reason: '', next_attempt: null });
    expect(sent!.attempts).toEqual([
      expect.objectContaining({ number: 1, answer: 500, at: expect.any(String) }),
      expect.objectContaining({ number: 2, answer: 200 }),
    ]);
  });

  it('is given the time it asks for', async () => {
    sink.answer({ status: 429, headers: { 'Retry-After': '120' } });
    const job = await launch(await posting('service_b'));
    await work(job);
    const [post] = await posts(job);
    expect(post!.wait as number).toBeGreaterThan(110);
    await work(job);
    expect(sink.requests).toHaveLength(1);
  });

  it.each(['hang', 'reset'] as const)(
    'is tried again when its connection does %s',
    async (fault) => {
      sink.answer({ fault });
      const job = await launch(await posting('service_b'));
      await work(job);
      const [post] = await posts(job);
      expect(post).toMatchObject({ outcome: 'pending' });
      expect(post!.attempts).toEqual([expect.objectContaining({ number: 1, answer: null })]);
      await elapse(job);
      await work(job);
      expect(await outcomes(job)).toEqual([['pending', 'sent']]);
    },
  );

  it.each([400, 401, 404, 422])('is not asked twice for what it refuses by %d', async (status) => {
    sink.answer(status);
    const job = await launch(await posting('service_b'));
    await work(job);
    expect(await posts(job)).toEqual([
      expect.objectContaining({ outcome: 'failed', reason: `The service answered ${status}.` }),
    ]);
    expect(await waiting(job)).toEqual([]);
  });

  it('is given up after the last attempt', async () => {
    sink.answer(...Array.from({ length: 8 }, () => 503));
    const job = await launch(await posting('service_b'));
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await elapse(job);
      await test.database.execute(sql`DELETE FROM outbound_breakers`);
      await work(job);
    }
    expect(await outcomes(job)).toEqual([['pending', 'failed']]);
    expect(sink.requests).toHaveLength(8);
  });

  it('is left alone for a while after five failures', async () => {
    sink.answer(...Array.from({ length: 5 }, () => 503));
    const hook = await posting('service_b');
    const jobs = [];
    for (let sent = 0; sent < 6; sent += 1) jobs.push(await launch(hook));
    for (const job of jobs) await work(job);
    expect(sink.requests).toHaveLength(5);
    const [last] = await posts(jobs.at(-1)!);
    expect(last).toMatchObject({ outcome: 'pending', attempts: [] });
    expect(last!.wait as number).toBeGreaterThan(30);
  });
});

describe('order', () => {
  it('holds when several workers are at one job', async () => {
    sink.answer({ delayMs: 150 });
    const job = await launch(await posting('service_b'));
    await move(job, 'waiting');
    await move(job, 'running');
    await move(job, 'successful');
    const messages = await waiting(job);
    expect(messages).toHaveLength(3);
    await Promise.all(messages.reverse().map(({ subject_id: id }) => poster().handle(id)));
    const states = sink.requests.map(({ body }) => (JSON.parse(body) as Row).state);
    expect(states).toEqual(['pending', 'running', 'success']);
    expect(await waiting(job)).toEqual([]);
  });

  it('gives a status up that failed once there is a later one', async () => {
    sink.answer(500);
    const job = await launch(await posting('service_b'));
    await work(job);
    await move(job, 'waiting');
    await move(job, 'running');
    await work(job);
    expect(await outcomes(job)).toEqual([
      ['pending', 'superseded'],
      ['running', 'sent'],
    ]);
    await elapse(job);
    await work(job);
    expect(sink.requests).toHaveLength(2);
    expect(await waiting(job)).toEqual([]);
  });

  it('survives a worker that died while it posted', async () => {
    const job = await launch(await posting('service_b'));
    await test.database.execute(sql`
      UPDATE webhook_status_posts SET attempt = 1, lease_until = now() - interval '1 second'
      WHERE job_id = ${job}`);
    await work(job);
    expect(await outcomes(job)).toEqual([['pending', 'sent']]);
  });

  it('does not post what another worker is posting', async () => {
    const job = await launch(await posting('service_b'));
    await test.database.execute(sql`
      UPDATE webhook_status_posts SET attempt = 1, lease_until = now() + interval '30 seconds'
      WHERE job_id = ${job}`);
    await work(job);
    expect(sink.requests).toEqual([]);
    expect(await waiting(job)).toHaveLength(1);
  });
});

describe('the token', () => {
  it.each([
    ['the host of the credential is another', { host: 'https://git.example.com' }],
    ['neither credential nor setting name the host', {}],
    ['the port is another', { host: 'http://127.0.0.1:1' }],
  ])('stays here when %s', async (_name, inputs) => {
    const job = await launch(await posting('service_a', inputs));
    await work(job);
    expect(sink.requests).toEqual([]);
    expect(await posts(job)).toEqual([
      expect.objectContaining({
        outcome: 'failed',
        attempts: [],
        reason: expect.stringContaining('may not be sent to the host'),
      }),
    ]);
  });

  it('does not follow a redirect to another host', async () => {
    const thief = await HttpSink.start();
    sink.answer({ status: 307, headers: { Location: `${thief.url}/take` } });
    const job = await launch(await posting('service_a'));
    await work(job);
    expect(thief.requests).toEqual([]);
    expect(await outcomes(job)).toEqual([['pending', 'failed']]);
    await thief.close();
  });

  it('is in no record, even when the service repeats it', async () => {
    sink.answer({
      status: 403,
      body: `no access for ${TOKEN} at ${sink.url}/secret/path?${TOKEN}`,
    });
    const job = await launch(await posting('service_a'));
    await work(job);
    expect(JSON.stringify(await posts(job))).not.toContain(TOKEN);
  });

  it('is not sent when it has letters that no header takes', async () => {
    const job = await launch(await posting('service_a', { host: sink.url, token: 'töken' }));
    await work(job);
    expect(sink.requests).toEqual([]);
    expect(await outcomes(job)).toEqual([['pending', 'failed']]);
  });

  it('is gone with its credential', async () => {
    const hook = await posting('service_a');
    const job = await launch(hook);
    await test.database.execute(sql`
      DELETE FROM credentials WHERE id = (
        SELECT webhook_credential_id FROM unified_job_templates WHERE id = ${hook.template.id})`);
    await work(job);
    expect(await posts(job)).toEqual([
      expect.objectContaining({ outcome: 'failed', reason: 'The webhook credential was deleted.' }),
    ]);
  });
});

describe('nothing is posted', () => {
  it('without a credential', async () => {
    const hook = await armed(test, 'service_a');
    const job = await launch(hook);
    await move(job, 'canceled');
    expect(await posts(job)).toEqual([]);
  });

  it('for an event that offers no place', async () => {
    const hook = await posting('service_a');
    const { body } = await hook.send({
      event: 'release',
      payload: { release: { tag_name: 'v1' } },
    });
    expect(await posts(body.job as number)).toEqual([]);
  });

  it('for a job that no webhook launched, though its template has them', async () => {
    const hook = await posting('service_a');
    const launched = await launch(hook);
    const [row] = await test.database.rows<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id)
      SELECT 'job', name, 'pending', id, id FROM unified_job_templates
      WHERE id = ${hook.template.id} RETURNING id`);
    await move(row!.id, 'canceled');
    expect(await posts(row!.id)).toEqual([]);
    expect(await posts(launched)).toHaveLength(1);
  });
});

describe('the log', () => {
  it('is below the job, for whoever may read the job', async () => {
    const job = await launch(await posting('service_a'));
    await work(job);
    const path = `jobs/${job}/webhook_status_posts/`;
    const { body } = await test.as.superuser.get(path).expect(200);
    expect(body.results).toEqual([
      expect.objectContaining({
        type: 'webhook_status_post',
        job,
        status: 'pending',
        state: 'pending',
        outcome: 'sent',
        attempts: [
          {
            number: 1,
            at: expect.any(String),
            answer: 200,
            detail: '{}',
            duration_ms: expect.any(Number),
          },
        ],
      }),
    ]);
    expect(JSON.stringify(body)).not.toContain(sink.url);
    await test.as.superuser.get(body.results[0].url as string).expect(200);
    await test.as.outsider.get(path).expect(403);
    await test.as.outsider.get(body.results[0].url as string).expect(403);
    await test.as.anonymous.get(path).expect(401);
    const shown = await test.as.superuser.get(`jobs/${job}/`).expect(200);
    expect(shown.body.related.webhook_status_posts).toBe(`/api/v2/${path}`);
  });
});

/**
 * Budget: 30 s, because two API processes and three workers are killed.
 */
import { randomUUID } from 'node:crypto';

import type { Row } from '../../src/common/resource/define-resource.js';
import { issueToken } from '../../src/common/crypto/tokens.js';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { commitId } from '../support/payloads/sample.js';
import { deliveryHeaders } from '../support/payloads/webhooks.js';
import { Cluster } from './support/cluster.js';
import { figuresOf, printFigures } from './support/figures.js';
import type { Program } from './support/processes.js';

const NETWORK = { OUTBOUND_ALLOW: '127.0.0.0/8' };
const TEMPLATE = 2;

/** Response that the code host received; null for a broken connection. */
type Answer = { status: number; body: Row & { message: string; job: number } } | null;

/**
 * Processes are killed between a delivery and the end of its job. The code host resends a delivery without a
 * response.
 */
describe('a delivery', () => {
  let cluster: Cluster;
  let api: { url: string };
  let sink: HttpSink;
  let token: string;
  let key: string;

  beforeAll(async () => {
    cluster = await Cluster.start({ fakeSeconds: 0 });
    sink = await HttpSink.start();
    const issued = issueToken();
    token = issued.token;
    await cluster.rows(
      `WITH admin AS (INSERT INTO users (username, is_superuser) VALUES ('root', true) RETURNING id)
       INSERT INTO tokens (description, scope, user_id, digest, expires)
       SELECT '', 'write', id, $1, now() + interval '1 hour' FROM admin`,
      [issued.digest],
    );
    api = await cluster.apiInside();
    const types = await call('GET', 'credential_types/?namespace=service_b_token');
    const credential = await call('POST', 'credentials/', {
      name: 'Posting',
      organization: 1,
      credential_type: (types.results as Row[])[0]!.id,
      inputs: { token: 'canary', host: sink.url },
    });
    await call('PATCH', `job_templates/${TEMPLATE}/`, {
      webhook_service: 'service_b',
      webhook_credential: credential.id,
    });
    key = String((await call('GET', `job_templates/${TEMPLATE}/webhook_key/`)).webhook_key);
  });

  afterAll(async () => {
    await sink.close();
    await cluster.stop();
  });

  async function call(method: string, path: string, body?: object): Promise<Row> {
    const answer = await fetch(`${api.url}/api/v2/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Row;
  }

  /** Sends one push of service B. */
  async function deliver(url: string, delivery: string): Promise<Answer> {
    const rawBody = Buffer.from(
      JSON.stringify({
        ref: 'refs/heads/main',
        checkout_sha: commitId(delivery),
        project: { id: 15, web_url: `${sink.url}/g/site`, path_with_namespace: 'g/site' },
      }),
    );
    const headers = deliveryHeaders('service_b', 'Push Hook', rawBody, key, { delivery });
    const path = `/api/v2/job_templates/${TEMPLATE}/service_b/`;
    try {
      const answer = await fetch(url + path, { method: 'POST', headers, body: rawBody });
      return { status: answer.status, body: (await answer.json()) as never };
    } catch {
      return null;
    }
  }

  const jobsOf = async (deliveries: readonly string[]): Promise<number[]> => {
    const rows = await cluster.rows<{ id: number }>(
      'SELECT id FROM unified_jobs WHERE webhook_guid = ANY($1) ORDER BY id',
      [deliveries],
    );
    return rows.map(({ id }) => id);
  };
  const postsOf = (job: number) =>
    cluster.rows<{ status: string; outcome: string }>(
      'SELECT status, outcome FROM webhook_status_posts WHERE job_id = $1 ORDER BY id',
      [job],
    );

  /** Asserts that every status post was sent or replaced by a later one, and that the last was sent. */
  async function expectAllPosted(job: number): Promise<void> {
    const posts = await postsOf(job);
    expect(posts.map(({ outcome }) => outcome)).not.toContain('pending');
    expect(posts.map(({ outcome }) => outcome)).not.toContain('failed');
    expect(posts.at(-1)?.outcome).toBe('sent');
  }

  /** Waits for the jobs and compares them with the deliveries. */
  async function expectNothingLost(what: string, deliveries: readonly string[]): Promise<void> {
    const ids = await jobsOf(deliveries);
    const figures = figuresOf(ids, await cluster.over(ids), await cluster.ledger());
    printFigures(what, figures);
    const count = deliveries.length;
    expect(figures).toEqual({ accepted: count, finished: count, lost: 0, doubled: 0 });
  }

  let worker: Program | undefined;
  /** Starts a worker without a fail point, or keeps that of an earlier test. */
  async function startWorker(): Promise<Program> {
    return (worker ??= await cluster.worker(NETWORK));
  }
  async function killWorker(): Promise<void> {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    worker = undefined;
  }

  it('leaves no trace if the API dies before its commit', async () => {
    const delivery = randomUUID();
    const dying = await cluster.api({ FAIL_POINT: 'run-created' });
    expect(await deliver(dying.url, delivery)).toBeNull();
    expect(await dying.ended).toBe('SIGKILL');
    expect(await jobsOf([delivery])).toEqual([]);
    const repeated = await deliver(api.url, delivery);
    expect(repeated).toMatchObject({ status: 202, body: { message: 'Job queued.' } });
    await startWorker();
    await expectNothingLost('API killed before its commit', [delivery]);
  }, 90_000);

  /**
   * Fail points at which workers die one after the other. A normal run omits those that worker.spec.ts covers.
   * A worker killed at `run-finishing` leaves a run that has to fail.
   */
  const BOTH = 'status-post-sent run-scheduled';
  const DEATHS = IS_DEEP
    ? ['run-scheduled', 'run-leased', 'run-prepared', 'run-finishing', 'status-post-sent', BOTH]
    : [BOTH];

  it.each(DEATHS)(
    'runs once and posts its statuses in order if workers die at %s',
    async (death) => {
      const points = death.split(' ');
      const delivery = randomUUID();
      sink.requests.length = 0;
      await killWorker();
      for (const [index, point] of points.entries()) {
        const before = sink.requests.length;
        const dying = await cluster.worker({ ...NETWORK, FAIL_POINT: point });
        if (index === 0) {
          expect(await deliver(api.url, delivery)).toMatchObject({ status: 202 });
        }
        expect(await dying.ended).toBe('SIGKILL');
        if (point === 'status-post-sent') expect(sink.requests).toHaveLength(before + 1);
        await cluster.forgetTheDead();
      }
      const [job] = await jobsOf([delivery]);
      await startWorker();
      await expectNothingLost(`worker killed at ${death}`, [delivery]);
      await eventually(() => expectAllPosted(job!), 60_000);
      // A post whose result could not be recorded may be sent twice. The code host keeps one status per
      // context.
      // A worker that an earlier test killed may have left a post of another job.
      const posts = sink.requests.map(({ body }) => JSON.parse(body) as Row);
      const states = posts
        .filter(({ target_url: url }) => String(url).endsWith(`/jobs/${job!}/`))
        .map(({ state }) => state);
      const steps = states.filter((state, index) => state !== states[index - 1]);
      if (points.includes('status-post-sent')) {
        expect(steps).toEqual(['pending', 'running', 'success']);
      }
    },
    120_000,
  );

  it('of many is neither lost nor repeated if API and worker die; repeating is safe', async () => {
    const deliveries = Array.from({ length: 40 }, () => randomUUID());
    await startWorker();
    // Dies after a commit, while the other deliveries are under way.
    const dying = await cluster.api({ FAIL_POINT: 'run-committed' });
    const answers = await Promise.all(deliveries.map((one) => deliver(dying.url, one)));
    expect(await dying.ended).toBe('SIGKILL');
    const missing = deliveries.filter((_one, index) => answers[index] === null);
    const stored = await Promise.all(missing.map((one) => jobsOf([one])));
    expect(stored.flat().length).toBeGreaterThan(0);
    const repeated = await Promise.all(missing.map((one) => deliver(api.url, one)));
    expect(repeated).toMatchObject(
      stored.map(([job]) => ({
        status: 202,
        body: job
          ? { message: 'Webhook previously received, aborting.', job }
          : { message: 'Job queued.' },
      })),
    );
    await killWorker();
    await startWorker();
    await expectNothingLost('API and worker killed under load', deliveries);
  }, 120_000);
});

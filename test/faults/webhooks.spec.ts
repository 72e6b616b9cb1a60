/**
 * Budget: 40 s, because four API processes and six workers are killed.
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
  let api: Program & { url: string };
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
    api = await cluster.api();
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

  it('leaves no trace if the API dies before the commit, and a job after it; repeating is safe', async () => {
    const before = await Promise.all(
      ['delivery-recorded', 'run-created'].map(async (point) => {
        const delivery = randomUUID();
        const dying = await cluster.api({ FAIL_POINT: point });
        expect(await deliver(dying.url, delivery)).toBeNull();
        expect(await dying.ended).toBe('SIGKILL');
        expect(await jobsOf([delivery])).toEqual([]);
        const repeated = await deliver(api.url, delivery);
        expect(repeated).toMatchObject({ status: 202, body: { message: 'Job queued.' } });
        return delivery;
      }),
    );
    const after = randomUUID();
    const dying = await cluster.api({ FAIL_POINT: 'run-committed' });
    expect(await deliver(dying.url, after)).toBeNull();
    expect(await dying.ended).toBe('SIGKILL');
    const [job] = await jobsOf([after]);
    expect(await deliver(api.url, after)).toMatchObject({
      status: 202,
      body: { message: 'Webhook previously received, aborting.', job },
    });
    await startWorker();
    await expectNothingLost('API killed around its commit', [...before, after]);
  }, 90_000);

  /**
   * Fail points. A normal run omits those between the lease and the end, which worker.spec.ts covers. A
   * worker killed at `run-finishing` leaves a run that has to fail.
   */
  const DEATHS = IS_DEEP
    ? ['run-scheduled', 'run-leased', 'run-prepared', 'run-finishing', 'status-post-sent']
    : ['run-scheduled', 'run-finishing', 'status-post-sent'];

  it.each(DEATHS)(
    'runs once and posts its statuses in order if a worker dies at %s',
    async (point) => {
      const delivery = randomUUID();
      sink.requests.length = 0;
      await killWorker();
      const dying = await cluster.worker({ ...NETWORK, FAIL_POINT: point });
      expect(await deliver(api.url, delivery)).toMatchObject({ status: 202 });
      expect(await dying.ended).toBe('SIGKILL');
      if (point === 'status-post-sent') expect(sink.requests).toHaveLength(1);
      const [job] = await jobsOf([delivery]);
      await cluster.forgetTheDead();
      await startWorker();
      await expectNothingLost(`worker killed at ${point}`, [delivery]);
      await eventually(() => expectAllPosted(job!), 60_000);
      // A post whose result could not be recorded may be sent twice. The code host keeps one status per
      // context.
      // A worker that an earlier test killed may have left a post of another job.
      const posts = sink.requests.map(({ body }) => JSON.parse(body) as Row);
      const states = posts
        .filter(({ target_url: url }) => String(url).endsWith(`/jobs/${job!}/`))
        .map(({ state }) => state);
      const steps = states.filter((state, index) => state !== states[index - 1]);
      if (point === 'status-post-sent') expect(steps).toEqual(['pending', 'running', 'success']);
    },
    120_000,
  );

  it('of many is neither lost nor repeated while API and worker are killed repeatedly', async () => {
    const deliveries = Array.from({ length: 40 }, () => randomUUID());
    const first = await cluster.api();
    const { child } = await startWorker();
    const sent = deliveries.map(async (delivery, index) => {
      if (index === 15) first.child.kill('SIGKILL');
      if (index === 20) child.kill('SIGKILL');
      return deliver(first.url, delivery);
    });
    const answers = await Promise.all(sent);
    const missing = deliveries.filter((_one, index) => answers[index] === null);
    expect(missing.length).toBeGreaterThan(0);
    await first.ended;
    await killWorker();
    const repeated = await Promise.all(missing.map((delivery) => deliver(api.url, delivery)));
    expect(repeated.map((answer) => answer?.status)).toEqual(missing.map(() => 202));
    await startWorker();
    await expectNothingLost('API and worker killed under load', deliveries);
  });
});

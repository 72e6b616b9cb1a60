import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { LookupError } from '../../src/credentials/external/lookup-error.js';
import { BreakersRepository } from '../../src/outbound/breakers.repository.js';
import { OutboundClient } from '../../src/outbound/outbound-client.js';
import { OutboundError } from '../../src/outbound/outbound-error.js';
import { StatusPostComposer } from '../../src/webhooks/status-post-composer.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { StatusPostBench } from '../support/status-posts.js';

let test: TestApp;
let bench: StatusPostBench;

beforeAll(async () => {
  test = await boot();
  bench = await StatusPostBench.start(test);
});
afterAll(async () => {
  await bench.close();
  await test.close();
});
beforeEach(async () => {
  await bench.reset();
  // Full jitter may choose no wait at all.
  jest.spyOn(Math, 'random').mockReturnValue(0.9);
});
afterEach(() => jest.restoreAllMocks());

describe('a service with errors', () => {
  /** Returns a job whose post is paused, because the posts of five jobs before it failed. */
  const jobAfterFailures = async (): Promise<number> => {
    bench.sink.reply(...Array.from({ length: 5 }, () => 503));
    const hook = await bench.hook('service_b');
    const jobs = [];
    for (let sent = 0; sent < 6; sent += 1) jobs.push(await bench.launch(hook));
    for (const job of jobs) await bench.work(job);
    return jobs.at(-1)!;
  };

  it('gets a retry after a server error', async () => {
    bench.sink.reply(500);
    const job = await bench.launch(await bench.hook('service_b'));
    await bench.work(job);
    const [post] = await bench.posts(job);
    expect(post).toMatchObject({ outcome: 'pending', reason: 'The service responded with 500.' });
    expect(await bench.messages(job)).toHaveLength(1);
    await bench.makeDue(job);
    await bench.work(job);
    const [sent] = await bench.posts(job);
    expect(sent).toMatchObject({ outcome: 'sent', reason: '', next_attempt: null });
    expect(sent!.attempts).toEqual([
      expect.objectContaining({ number: 1, answer: 500, at: expect.any(String) }),
      expect.objectContaining({ number: 2, answer: 200 }),
    ]);
  });

  it('gets a retry after the requested delay', async () => {
    bench.sink.reply({ status: 429, headers: { 'Retry-After': '120' } });
    const job = await bench.launch(await bench.hook('service_b'));
    await bench.work(job);
    const [post] = await bench.posts(job);
    expect(post!.wait as number).toBeGreaterThan(110);
    await bench.work(job);
    expect(bench.sink.requests).toHaveLength(1);
  });

  it('gets the next status after that delay too', async () => {
    bench.sink.reply({ status: 429, headers: { 'Retry-After': '120' } });
    const job = await bench.launch(await bench.hook('service_b'));
    await bench.work(job);
    await bench.move(job, 'waiting');
    await bench.move(job, 'running');
    await bench.work(job);
    expect(bench.sink.requests).toHaveLength(1);
    expect(await bench.outcomes(job)).toEqual([
      ['pending', 'pending'],
      ['running', 'pending'],
    ]);
    await bench.makeDue(job);
    await bench.work(job);
    expect(await bench.outcomes(job)).toEqual([
      ['pending', 'superseded'],
      ['running', 'sent'],
    ]);
    expect(bench.sink.requests).toHaveLength(2);
    expect(await bench.messages(job)).toEqual([]);
  });

  it.each(['hang', 'reset'] as const)('gets a retry when its connection does %s', async (fault) => {
    bench.sink.reply({ fault });
    const job = await bench.launch(await bench.hook('service_b'));
    await bench.work(job);
    const [post] = await bench.posts(job);
    expect(post).toMatchObject({ outcome: 'pending' });
    expect(post!.attempts).toEqual([expect.objectContaining({ number: 1, answer: null })]);
    await bench.makeDue(job);
    await bench.work(job);
    expect(await bench.outcomes(job)).toEqual([['pending', 'sent']]);
  });

  it.each([400, 401, 404, 422])('gets no retry after %d', async (status) => {
    bench.sink.reply(status);
    const job = await bench.launch(await bench.hook('service_b'));
    await bench.work(job);
    expect(await bench.posts(job)).toEqual([
      expect.objectContaining({
        outcome: 'failed',
        reason: `The service responded with ${status}.`,
      }),
    ]);
    expect(await bench.messages(job)).toEqual([]);
  });

  it('gets no retry after the last attempt', async () => {
    bench.sink.reply(...Array.from({ length: 8 }, () => 503));
    const job = await bench.launch(await bench.hook('service_b'));
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await bench.makeDue(job);
      await test.database.execute(sql`DELETE FROM outbound_breakers`);
      await bench.work(job);
    }
    expect(await bench.outcomes(job)).toEqual([['pending', 'failed']]);
    expect(bench.sink.requests).toHaveLength(8);
  });

  it('gets no posts for a while after five failures', async () => {
    const paused = await jobAfterFailures();
    expect(bench.sink.requests).toHaveLength(5);
    const [last] = await bench.posts(paused);
    expect(last).toMatchObject({ outcome: 'pending', attempts: [] });
    expect(last!.wait as number).toBeGreaterThan(30);
  });

  it('causes no logins to secret stores while its posts are paused', async () => {
    const compose = jest.spyOn(StatusPostComposer.prototype, 'compose');
    await jobAfterFailures();
    expect(compose).toHaveBeenCalledTimes(5);
  });

  it('gets posts with other credentials while a secret store fails', async () => {
    const hook = await bench.hook('service_b');
    const compose = jest.spyOn(StatusPostComposer.prototype, 'compose');
    compose.mockRejectedValue(new LookupError('There was no response.'));
    const jobs = [];
    for (let sent = 0; sent < 6; sent += 1) jobs.push(await bench.launch(hook));
    for (const job of jobs) await bench.work(job);
    expect(compose).toHaveBeenCalledTimes(5);
    const [last] = await bench.posts(jobs.at(-1)!);
    expect(last).toMatchObject({ outcome: 'pending', attempts: [] });
    expect(last!.reason).toContain('The secret store of the credential failed several times');
    compose.mockRestore();
    const other = await bench.launch(await bench.hook('service_b'));
    await bench.work(other);
    expect(await bench.outcomes(other)).toEqual([['pending', 'sent']]);
  });

  it('gets the posts of other organizations, whose requests can succeed', async () => {
    await jobAfterFailures();
    const project = await test.make.project({ organization: test.home.otherOrganization.id });
    const template = await test.make.jobTemplate({ project: project.id });
    const job = await bench.launch(await bench.hook('service_b', undefined, template));
    await bench.work(job);
    expect(await bench.outcomes(job)).toEqual([['pending', 'sent']]);
  });

  it('gets no post that has waited for eight hours', async () => {
    const paused = await jobAfterFailures();
    await test.database.execute(sql`
      UPDATE webhook_status_posts SET created = now() - interval '9 hours' WHERE job_id = ${paused}`);
    await bench.makeDue(paused);
    await bench.work(paused);
    const [post] = await bench.posts(paused);
    expect(post).toMatchObject({ outcome: 'failed', attempts: [], next_attempt: null });
    expect(await bench.messages(paused)).toEqual([]);
    expect(bench.sink.requests).toHaveLength(5);
  });

  it('keeps its failures if an attempt is refused before it reaches the service', async () => {
    bench.sink.reply(503);
    const hook = await bench.hook('service_b');
    await bench.work(await bench.launch(hook));
    const refusal = new OutboundError('address', 'The address is not permitted.');
    jest.spyOn(OutboundClient.prototype, 'request').mockRejectedValueOnce(refusal);
    const job = await bench.launch(hook);
    await bench.work(job);
    expect(await bench.outcomes(job)).toEqual([['pending', 'failed']]);
    const { organization_id: organization } = hook.template;
    const destination = `${organization as number} status_post ${new URL(bench.sink.url).origin}`;
    const breakers = test.app.get(BreakersRepository, { strict: false });
    expect(await breakers.viewsOf([destination])).toEqual([
      expect.objectContaining({ failures: 1 }),
    ]);
  });

  it('gets further posts after five rate limits, which are responses', async () => {
    bench.sink.reply(...Array.from({ length: 5 }, () => 429));
    const hook = await bench.hook('service_b');
    const jobs = [];
    for (let sent = 0; sent < 6; sent += 1) jobs.push(await bench.launch(hook));
    for (const job of jobs) await bench.work(job);
    expect(await bench.outcomes(jobs[0]!)).toEqual([['pending', 'pending']]);
    expect(await bench.outcomes(jobs.at(-1)!)).toEqual([['pending', 'sent']]);
  });
});

describe('the order of statuses', () => {
  it('is kept with several workers for one job', async () => {
    bench.sink.reply({ delayMs: 150 });
    const job = await bench.launch(await bench.hook('service_b'));
    await bench.move(job, 'waiting');
    await bench.move(job, 'running');
    await bench.move(job, 'successful');
    const messages = await bench.messages(job);
    expect(messages).toHaveLength(3);
    await Promise.all(messages.reverse().map((id) => bench.poster().handle(id)));
    const states = bench.sink.requests.map(({ body }) => (JSON.parse(body) as Row).state);
    expect(states).toEqual(['pending', 'running', 'success']);
    expect(await bench.messages(job)).toEqual([]);
  });

  it('drops a failed status after a later one', async () => {
    bench.sink.reply(500);
    const job = await bench.launch(await bench.hook('service_b'));
    await bench.work(job);
    await bench.move(job, 'waiting');
    await bench.move(job, 'running');
    await bench.work(job);
    expect(await bench.outcomes(job)).toEqual([
      ['pending', 'superseded'],
      ['running', 'sent'],
    ]);
    await bench.makeDue(job);
    await bench.work(job);
    expect(bench.sink.requests).toHaveLength(2);
    expect(await bench.messages(job)).toEqual([]);
  });

  it('is kept after the death of a worker that posted', async () => {
    const job = await bench.launch(await bench.hook('service_b'));
    await test.database.execute(sql`
      UPDATE webhook_status_posts SET attempt = 1, lease_until = now() - interval '1 second'
      WHERE job_id = ${job}`);
    await bench.work(job);
    expect(await bench.outcomes(job)).toEqual([['pending', 'sent']]);
  });

  it('excludes a post that another worker is sending', async () => {
    const job = await bench.launch(await bench.hook('service_b'));
    await test.database.execute(sql`
      UPDATE webhook_status_posts SET attempt = 1, lease_until = now() + interval '30 seconds'
      WHERE job_id = ${job}`);
    await bench.work(job);
    expect(bench.sink.requests).toEqual([]);
    expect(await bench.messages(job)).toHaveLength(1);
  });
});

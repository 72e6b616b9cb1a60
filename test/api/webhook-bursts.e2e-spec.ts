/** Simultaneous deliveries are processed in one batch, with the same results as single deliveries. */
import { randomUUID } from 'node:crypto';

import type { Response } from 'supertest';

import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { webhookSample } from '../support/payloads/webhooks.js';
import { countQueries } from '../support/queries.js';
import { newHook, type Hook } from '../support/webhooks.js';

const BURST = 24;

let test: TestApp;
beforeAll(async () => {
  test = await boot({ settings: { RECEIVER_RATE: '100000' } });
});
afterAll(() => test.close());

const push = webhookSample('service_a', 'push');

const sendAll = (hooks: readonly Hook[], ids: readonly string[]): Promise<Response[]> =>
  Promise.all(ids.map((delivery, place) => hooks[place % hooks.length]!.send(push, { delivery })));

const newIds = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

it('simultaneous deliveries need fewer statements than separate ones', async () => {
  const hook = await newHook(test, 'service_a', { allow_simultaneous: true });
  await hook.send(push).expect(202);
  const alone = await countQueries(test.database, () => sendAll([hook], newIds(1)));
  const together = await countQueries(test.database, () => sendAll([hook], newIds(BURST)));
  expect(together).toBeGreaterThan(0);
  // Usually a third of the statements; more if PostgreSQL takes longer than a batch waits.
  expect(together).toBeLessThan(0.85 * alone * BURST);
});

it('each delivery launches its own job, with its id and its trace', async () => {
  const hook = await newHook(test, 'service_a', { allow_simultaneous: true });
  const ids = newIds(BURST);
  const answers = await sendAll([hook], ids);
  expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 202));
  const [jobs, deliveries] = [await hook.jobs(), await hook.deliveries()];
  expect(jobs).toHaveLength(BURST);
  for (const [place, guid] of ids.entries()) {
    const { body } = answers[place]!;
    const delivery = deliveries.find((one) => one.guid === guid)!;
    const job = jobs.find((one) => one.webhook_guid === guid)!;
    expect(body).toMatchObject({ delivery: delivery.id, job: job.id });
    expect(delivery).toMatchObject({ verdict: 'accepted', job_id: job.id });
    expect(job).toMatchObject({ webhook_delivery_id: delivery.id, launch_type: 'webhook' });
  }
  const entries = await test.database.rows<{ object1_id: number }>(sql`
    SELECT object1_id FROM activity_stream WHERE operation = 'create' AND object1 = 'job'
      AND object1_id = ANY(${jobs.map(({ id }) => id)}::bigint[])`);
  expect(entries.map((one) => one.object1_id).toSorted()).toEqual(
    jobs.map(({ id }) => id).toSorted(),
  );
});

it('copies of a delivery launch once, and all responses name the job', async () => {
  const hook = await newHook(test, 'service_a', { allow_simultaneous: true });
  const [one, other, third] = newIds(3) as [string, string, string];
  const ids = [one, other, one, third, other, one];
  const answers = await sendAll([hook], ids);
  for (const id of [one, other, third]) {
    const copies = answers.filter((_answer, place) => ids[place] === id).map(({ body }) => body);
    expect(new Set(copies.map(({ job }) => job)).size).toBe(1);
    expect(copies.filter(({ message }) => message === 'Job queued.')).toHaveLength(1);
    const rows = (await hook.deliveries()).filter(({ guid }) => guid === id);
    const accepted = rows.find(({ verdict }) => verdict === 'accepted')!;
    const repeated = rows.filter(({ verdict }) => verdict === 'duplicate');
    expect(repeated).toHaveLength(copies.length - 1);
    for (const { reason } of repeated)
      expect(reason).toBe(`Delivery ${accepted.id} had the same id.`);
  }
  expect(await hook.jobs()).toHaveLength(3);
});

it('a delivery that cannot launch does not affect others', async () => {
  const good = await newHook(test, 'service_a', { allow_simultaneous: true });
  const bad = await newHook(test, 'service_a');
  await test.database.execute(sql`
    UPDATE unified_job_templates SET inventory_id = NULL WHERE id = ${bad.template.id}`);
  const answers = await sendAll([good, bad], newIds(BURST));
  answers.forEach(({ status }, place) => expect(status).toBe(place % 2 === 0 ? 202 : 400));
  expect(await good.jobs()).toHaveLength(BURST / 2);
  expect(await bad.jobs()).toHaveLength(0);
  expect(new Set((await bad.deliveries()).map(({ verdict }) => verdict))).toEqual(
    new Set(['rejected']),
  );
  expect(await bad.deliveries()).toHaveLength(BURST / 2);
});

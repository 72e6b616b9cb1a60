/** A template with past launches, deliveries or schedules can be deleted. */
import { randomUUID } from 'node:crypto';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { eventually } from '../support/eventually.js';
import { deliveryHeaders, firstSample } from '../support/payloads/webhooks.js';

const SERVICE = 'service_a';
const RULE = 'DTSTART:20200101T000000Z RRULE:FREQ=HOURLY;INTERVAL=1';
const RUN_MS = 40_000;

let cluster: Cluster;
let api: ApiCalls;
beforeAll(async () => {
  cluster = await Cluster.start({ fakeSeconds: 0 });
  api = await ApiCalls.inside(cluster);
  await cluster.workerInside();
}, 90_000);
afterAll(() => cluster.stop());

/** Collections of templates, with a function that creates a template of each. */
const KINDS: [path: string, make: () => Promise<Row>][] = [
  [
    'job_templates',
    () =>
      api.call('POST', 'job_templates/', {
        ...{ name: randomUUID(), inventory: 1, project: 1, playbook: 'site.yml' },
      }),
  ],
  [
    'workflow_job_templates',
    async () => {
      const made = await api.call('POST', 'workflow_job_templates/', { name: randomUUID() });
      const nodes = `workflow_job_templates/${made.id}/workflow_nodes/`;
      await api.call('POST', nodes, { unified_job_template: 2 });
      return made;
    },
  ],
];

/** Waits until a template has the given number of runs and all of them have ended. */
async function isOver(template: Row, count: number): Promise<void> {
  const ids = await eventually(async () => {
    const runs = await cluster.rows<{ id: number }>(
      'SELECT id FROM unified_jobs WHERE unified_job_template_id = $1',
      [template.id],
    );
    if (runs.length < count) throw new Error(`${runs.length} of ${count} runs`);
    return runs.map(({ id }) => id);
  }, RUN_MS);
  expect(await cluster.over(ids, RUN_MS)).toEqual({ successful: count });
}

describe.each(KINDS)('a template in %s', (path, make) => {
  it('can be deleted after a delivery', async () => {
    const template = await make();
    const url = `${path}/${template.id}/`;
    await api.call('PATCH', url, { webhook_service: SERVICE });
    const { webhook_key: key } = await api.call('GET', `${url}webhook_key/`);
    const { event, payload } = firstSample(SERVICE);
    const body = Buffer.from(JSON.stringify(payload));
    const headers = deliveryHeaders(SERVICE, event, body, String(key), { delivery: path });
    const receiver = `${api.url}/api/v2/${url}${SERVICE}/`;
    const { status } = await fetch(receiver, { method: 'POST', headers, body });
    expect(status).toBe(202);
    await isOver(template, 1);
    await api.call('DELETE', url);
  }, 120_000);

  it('can be deleted after a scheduled run', async () => {
    const template = await make();
    const url = `${path}/${template.id}/`;
    const schedule = await api.call('POST', `${url}schedules/`, { name: 'Hourly', rrule: RULE });
    await cluster.rows(`UPDATE schedules SET next_run = date_trunc('hour', now()) WHERE id = $1`, [
      schedule.id,
    ]);
    await isOver(template, 1);
    await api.call('DELETE', url);
  }, 120_000);
});

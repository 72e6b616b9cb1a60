import type { Row } from '../../src/common/resource/define-resource.js';
import { eventually } from '../support/eventually.js';
import { NotifiedRuns } from './notified-runs.js';

let runs: NotifiedRuns;

beforeAll(async () => {
  runs = await NotifiedRuns.start();
});
afterAll(() => runs.stop());
beforeEach(() => {
  runs.http.requests.length = 0;
});

const incidents = (change: object = {}): Promise<Row> =>
  runs.test.make.notificationTemplate({
    organization: runs.test.home.organization.id,
    notification_type: 'incident_a',
    notification_configuration: {
      subdomain: 'acme',
      token: 'token',
      service_key: 'key',
      client_name: 'controller',
      resolve_on_success: true,
      ...change,
    },
  });

interface IncidentEvent {
  event_type: string;
  incident_key: string;
  description: string;
}

const sentEvents = (): IncidentEvent[] =>
  runs.http.requests.map(({ body }) => JSON.parse(body) as IncidentEvent);

it('failures of a template open one incident, which the next success resolves', async () => {
  const template = await runs.jobTemplate();
  await runs.attach(await incidents(), template, 'error', 'success');
  for (const status of ['failed', 'error', 'successful'] as const) {
    const [id] = await runs.ends(template, status);
    expect(await runs.settled(id!)).toMatchObject({ status: 'successful' });
  }
  const incident_key = `automation-controller-${template.id}`;
  expect(sentEvents()).toMatchObject([
    { event_type: 'trigger', incident_key, description: expect.stringContaining('failed') },
    { event_type: 'trigger', incident_key, description: expect.stringContaining('error') },
    { event_type: 'resolve', incident_key, description: expect.stringContaining('successful') },
  ]);
});

it('incidents of other templates are not resolved', async () => {
  const notification = await incidents();
  const [broken, sound] = [await runs.jobTemplate(), await runs.jobTemplate()];
  for (const template of [broken, sound]) {
    await runs.attach(notification, template, 'error', 'success');
  }
  const [failure] = await runs.ends(broken, 'failed');
  await runs.settled(failure!);
  const [success] = await runs.ends(sound, 'successful');
  await runs.settled(success!);
  const [opened, resolved] = sentEvents();
  expect(resolved!.event_type).toBe('resolve');
  expect(resolved!.incident_key).not.toBe(opened!.incident_key);
});

it('an incident is resolved only after it was opened, however late that is', async () => {
  const template = await runs.jobTemplate();
  await runs.attach(await incidents(), template, 'error', 'success');
  runs.http.reply({ status: 503, headers: { 'retry-after': '1000' } });
  const [failure] = await runs.ends(template, 'failed');
  await eventually(async () =>
    expect(await runs.record(failure!)).toMatchObject({
      status: 'failed',
      attempts: 1,
      leased: false,
      planned: true,
    }),
  );
  const [success] = await runs.ends(template, 'successful');
  // Its template can be deleted while the notification waits for the retry.
  await eventually(async () =>
    expect(await runs.record(success!)).toMatchObject({
      status: 'failed',
      error: 'An earlier notification of the same incident must be sent first.',
      attempts: 0,
      planned: true,
    }),
  );
  await runs.handle(success!);
  expect(await runs.record(success!)).toMatchObject({ status: 'failed', attempts: 0 });
  await runs.handle(failure!);
  await runs.settled(failure!);
  await runs.handle(success!);
  await runs.settled(success!);
  // The first attempt was refused.
  expect(sentEvents().map(({ event_type }) => event_type)).toEqual([
    'trigger',
    'trigger',
    'resolve',
  ]);
});

it('each notification without the option opens an incident', async () => {
  const template = await runs.jobTemplate();
  await runs.attach(await incidents({ resolve_on_success: false }), template, 'error', 'success');
  for (const status of ['failed', 'successful'] as const) {
    const [id] = await runs.ends(template, status);
    await runs.settled(id!);
  }
  const [failure, success] = sentEvents();
  expect([failure!.event_type, success!.event_type]).toEqual(['trigger', 'trigger']);
  expect(failure!.incident_key).not.toBe(success!.incident_key);
});

import { Logger } from '@nestjs/common';

import { sql } from '../../src/database/sql.js';
import { JsonLogger } from '../../src/logging/json-logger.js';
import { LogLines } from '../../src/logging/log-lines.service.js';
import { RuntimeSettings } from '../../src/settings/runtime-settings.service.js';
import { SettingsRepository } from '../../src/settings/settings.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { endedOrWaiting } from '../support/interleave.js';
import { HttpSink } from '../support/fakes/http-sink.js';

const PATH = 'settings/logging/';
const SECRET = 'token-of-the-collector';

let test: TestApp;
let sink: HttpSink;
beforeAll(async () => {
  test = await boot();
  sink = await HttpSink.start();
});
afterEach(() => test.as.superuser.delete(PATH).expect(204));
afterAll(async () => {
  await sink.close();
  await test.close();
});

const change = (values: object, status = 200) =>
  test.as.superuser.patch(PATH, values).expect(status);
const enable = (values: object = {}) =>
  change({
    LOG_AGGREGATOR_ENABLED: true,
    LOG_AGGREGATOR_TYPE: 'splunk',
    LOG_AGGREGATOR_HOST: sink.url,
    LOG_AGGREGATOR_PASSWORD: SECRET,
    ...values,
  });

it('the log settings have the defaults of the reference product', async () => {
  const { body } = await test.as.superuser.get(PATH).expect(200);
  expect(body).toMatchObject({
    LOG_AGGREGATOR_HOST: null,
    LOG_AGGREGATOR_PORT: null,
    LOG_AGGREGATOR_TYPE: null,
    LOG_AGGREGATOR_USERNAME: '',
    LOG_AGGREGATOR_PASSWORD: '',
    LOG_AGGREGATOR_LOGGERS: [
      'awx',
      'activity_stream',
      'job_events',
      'system_tracking',
      'broadcast_websocket',
    ],
    LOG_AGGREGATOR_INDIVIDUAL_FACTS: false,
    LOG_AGGREGATOR_ENABLED: false,
    LOG_AGGREGATOR_TOWER_UUID: '',
    LOG_AGGREGATOR_PROTOCOL: 'https',
    LOG_AGGREGATOR_TCP_TIMEOUT: 5,
    LOG_AGGREGATOR_VERIFY_CERT: true,
    LOG_AGGREGATOR_LEVEL: 'INFO',
    LOG_AGGREGATOR_ACTION_QUEUE_SIZE: 131_072,
  });
  await test.as.superuser.put(PATH, body).expect(200, body);
});

it('the log aggregator keeps the host that a simultaneous request enables', async () => {
  await change({ LOG_AGGREGATOR_TYPE: 'splunk', LOG_AGGREGATOR_HOST: sink.url });
  const stored = test.app.get(SettingsRepository, { strict: false });
  const store = stored.store.bind(stored);
  let status = 0;
  let other: Promise<unknown> = Promise.resolve();
  jest.spyOn(stored, 'store').mockImplementationOnce(async (...setting) => {
    other = test.as.superuser
      .patch(PATH, { LOG_AGGREGATOR_HOST: null })
      .then((answer) => (status = answer.status));
    await endedOrWaiting(test.database, other);
    await store(...setting);
  });
  await change({ LOG_AGGREGATOR_ENABLED: true });
  await other;
  expect(status).toBe(400);
});

it.each([
  [{ LOG_AGGREGATOR_TYPE: 'fluentd' }, /^It must be one of logstash, /],
  [{ LOG_AGGREGATOR_LOGGERS: ['awx', 'nginx'] }, /^Each entry must be one of awx, .*"nginx"/],
  [{ LOG_AGGREGATOR_PORT: 70_000 }, /less than or equal to 65535/],
  [{ LOG_AGGREGATOR_PASSWORD: '$encrypted$' }, /^\$encrypted\$ keeps a stored secret/],
])('the log settings refuse %j', async (values, message) => {
  const { body } = await change(values, 400);
  expect(body).toEqual({ [Object.keys(values)[0]!]: [expect.stringMatching(message)] });
});

it('the log aggregator requires host and type when enabled, and accepts null for them', async () => {
  const { body } = await change({ LOG_AGGREGATOR_ENABLED: true }, 400);
  expect(body).toEqual({
    __all__: [
      'Cannot enable log aggregator without providing host.',
      'Cannot enable log aggregator without providing type.',
    ],
  });
  await enable();
  await change({ LOG_AGGREGATOR_HOST: null }, 400);
  await change({ LOG_AGGREGATOR_ENABLED: false, LOG_AGGREGATOR_HOST: null });
  const { body: shown } = await test.as.superuser.get(PATH).expect(200);
  expect(shown.LOG_AGGREGATOR_HOST).toBeNull();
});

it('host and type of the environment count when the changed settings are changed', async () => {
  const settings = { LOG_AGGREGATOR_HOST: sink.url, LOG_AGGREGATOR_TYPE: 'splunk' };
  const runtime = test.app.get(RuntimeSettings, { strict: false });
  jest.replaceProperty(runtime, 'settings' as never, settings as never);
  await change({ LOG_AGGREGATOR_ENABLED: true });
  for (const LOG_AGGREGATOR_ENABLED of [false, true]) {
    await test.as.superuser.patch('settings/changed/', { LOG_AGGREGATOR_ENABLED }).expect(200);
  }
  jest.restoreAllMocks();
});

it('other settings can be changed while the log settings lack the host', async () => {
  await enable();
  await test.database.execute(sql`DELETE FROM settings WHERE name = 'LOG_AGGREGATOR_HOST'`);
  await test.as.superuser.patch('settings/bulk/', { BULK_JOB_MAX_LAUNCH: 90 }).expect(200);
  await change({ LOG_AGGREGATOR_TYPE: 'loggly' }, 400);
});

it('the password is encrypted, and never shown', async () => {
  const { body } = await enable();
  expect(body.LOG_AGGREGATOR_PASSWORD).toBe('$encrypted$');
  const rows = await test.database.rows<{ value: unknown }>(
    sql`SELECT value FROM settings WHERE name = 'LOG_AGGREGATOR_PASSWORD'`,
  );
  expect(rows).toEqual([{ value: expect.stringMatching(/^\$sealed\$v1\$/) }]);
  // The masked value keeps the stored one.
  await test.as.superuser.put(PATH, body).expect(200);
  await test.as.superuser.post(`${PATH}test/`).expect(202);
  expect(sink.last.headers.authorization).toBe(`Splunk ${SECRET}`);
  await test.as.superuser.delete(PATH).expect(204);
  const log = await test.as.superuser.get('activity_stream/?object1=setting&page_size=200');
  expect(log.text).not.toContain(SECRET);
  expect(log.text).not.toContain('$sealed$');
  expect(log.text).toContain('LOG_AGGREGATOR_PASSWORD":["","$encrypted$"]');
});

it('refused requests are logged in the format of the setting', async () => {
  const lines = test.app.get(LogLines, { strict: false });
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
  lines.start(new JsonLogger('error'));
  await change({
    API_400_ERROR_LOG_FORMAT: '{status_code} for {user_name}: {url_path} {remote_addr} {error}',
  });
  await eventually(() => expect(lines.refusalFormat).not.toBe(''), 10_000);
  await test.as.superuser.get('settings/none/?token=secret').expect(404);
  await test.as.anonymous.get('teams/').expect(401);
  await test.as.superuser.get('teams/').expect(200);
  await eventually(() => {
    const logged = warn.mock.calls.map(([text]: unknown[]) => text);
    expect(logged.filter((text) => typeof text === 'string')).toEqual([
      `404 for ${test.as.users.superuser.username as string}: /api/v2/settings/none/ 127.0.0.1 {error}`,
      '401 for AnonymousUser: /api/v2/teams/ 127.0.0.1 {error}',
    ]);
  });
  await test.as.superuser.delete(PATH).expect(204);
  await eventually(() => expect(lines.refusalFormat).toBe(''), 10_000);
  await lines.onModuleDestroy();
  warn.mockRestore();
});

it('settings of the reference product without an effect here are refused', async () => {
  const names = [
    'LOG_AGGREGATOR_ACTION_MAX_DISK_USAGE_GB',
    'LOG_AGGREGATOR_MAX_DISK_USAGE_PATH',
    'LOG_AGGREGATOR_RSYSLOGD_DEBUG',
  ];
  const { body } = await change(Object.fromEntries(names.map((name) => [name, null])), 400);
  expect(Object.keys(body)).toEqual(names);
});

describe('test/', () => {
  const ask = () => test.as.superuser.post(`${PATH}test/`);

  it('is refused while the log aggregator is not enabled', async () => {
    const { body } = await ask().expect(409);
    expect(body).toEqual({ detail: 'Logging not enabled', error: 'Logging not enabled' });
  });

  it('is a button on the page', async () => {
    const { text } = await test.as.superuser.get(PATH).set('Accept', 'text/html').expect(200);
    expect(text).toMatch(/<form method="post" action="\/api\/v2\/settings\/logging\/test\/"/);
    const root = await test.as.superuser.get('').set('Accept', 'text/html').expect(200);
    expect(root.text).not.toContain('settings/logging/test/');
  });

  it('is permitted to superusers only', async () => {
    await test.as.auditor.post(`${PATH}test/`).expect(403);
    await test.as.orgAdmin.post(`${PATH}test/`).expect(403);
  });

  it('sends a record', async () => {
    await enable();
    await ask().expect(202);
    expect(sink.last.path).toBe('/services/collector/event');
    expect(JSON.parse(sink.last.body)).toMatchObject({
      event: { level: 'ERROR', logger_name: 'awx', message: 'Connection test message' },
    });
  });

  it('requires a password that cannot be decrypted again', async () => {
    await enable();
    const foreign = `$sealed$v1$deadbeef$${'A'.repeat(60)}`;
    await test.database.execute(sql`
      UPDATE settings SET value = to_json(${foreign}::text) WHERE name = 'LOG_AGGREGATOR_PASSWORD'`);
    const { body } = await ask().expect(400);
    expect(body.error).toBe('The password cannot be decrypted. Enter it again.');
  });

  it('explains why the record did not arrive, without the password', async () => {
    await enable();
    sink.reply({ status: 403, body: { text: `Invalid ${SECRET}` } });
    const { body, text } = await ask().expect(400);
    expect(body.error).toMatch(/returned 403: .*Invalid \*\*\*/);
    expect(text).not.toContain(SECRET);
  });

  it.each([
    [
      { LOG_AGGREGATOR_PROTOCOL: 'tcp', LOG_AGGREGATOR_HOST: '127.0.0.1' },
      /^Port required for tcp/,
    ],
    [
      {
        LOG_AGGREGATOR_PROTOCOL: 'tcp',
        LOG_AGGREGATOR_HOST: '127.0.0.1',
        LOG_AGGREGATOR_PORT: 1,
      },
      /ECONNREFUSED/,
    ],
    [{ LOG_AGGREGATOR_HOST: 'http://10.0.0.1/' }, /must be listed in OUTBOUND_ALLOW/],
  ])('explains the error of %j', async (values, message) => {
    await enable(values);
    const { body } = await ask().expect(400);
    expect(body.error).toMatch(message);
  });
});

it('activity entries are stored for the log aggregator only while it receives them', async () => {
  const waiting = () => test.database.rows(sql`SELECT 1 FROM activity_deliveries`);
  const { id } = test.home.organization;
  await test.database.execute(sql`DELETE FROM activity_deliveries`);
  await test.as.superuser.post('labels/', { name: 'before', organization: id }).expect(201);
  expect(await waiting()).toHaveLength(0);
  await enable();
  await test.database.execute(sql`DELETE FROM activity_deliveries`);
  await test.as.superuser.post('labels/', { name: 'during', organization: id }).expect(201);
  expect(await waiting()).toHaveLength(1);
  await change({ LOG_AGGREGATOR_LOGGERS: ['awx'] });
  await test.database.execute(sql`DELETE FROM activity_deliveries`);
  await test.as.superuser.post('labels/', { name: 'after', organization: id }).expect(201);
  expect(await waiting()).toHaveLength(0);
});

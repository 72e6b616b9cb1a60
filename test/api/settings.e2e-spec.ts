import { SETTINGS, type SettingName } from '../../src/config/settings.js';
import { insertRow } from '../../src/database/rows.js';
import { sql } from '../../src/database/sql.js';
import { declaredName } from '../../src/settings/setting-fields.js';
import { SettingRules } from '../../src/settings/setting-rules.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES } from '../support/personas.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it('the settings list their categories', async () => {
  const { body } = await test.as.superuser.get('settings/').expect(200);
  const slugs = body.results.map(({ slug }: { slug: string }) => slug);
  expect(slugs).toEqual(
    expect.arrayContaining([
      'all',
      'changed',
      'bulk',
      'system',
      'jobs',
      'authentication',
      'ui',
      'named-url',
    ]),
  );
  for (const slug of slugs) await test.as.superuser.get(`settings/${slug}/`).expect(200);
  await test.as.superuser.get('settings/nonsense/').expect(404);
});

it.each(PERSONA_NAMES)(
  'the settings can be read and changed by %s as the rules require',
  async (name) => {
    const [read, change] = { superuser: [200, 200], auditor: [200, 403] }[name as string] ?? [
      403, 403,
    ];
    const client = test.as[name];
    await client.get('settings/').expect(read!);
    await client.get('settings/bulk/').expect(read!);
    await client.patch('settings/bulk/', { BULK_HOST_MAX_CREATE: 100 }).expect(change!);
    await client.put('settings/bulk/', { BULK_HOST_MAX_CREATE: 100 }).expect(change!);
    await client.delete('settings/bulk/').expect(change === 200 ? 204 : change!);
  },
);

it('a setting applies to the next request and returns to the environment after a reset', async () => {
  const { as } = test;
  const { body } = await as.superuser
    .patch('settings/bulk/', { BULK_HOST_MAX_CREATE: '7' })
    .expect(200);
  expect(body.BULK_HOST_MAX_CREATE).toBe(7);
  expect((await as.nobody.get('config/')).body.BULK_HOST_MAX_CREATE).toBe(7);
  expect((await as.superuser.get('settings/changed/')).body).toEqual({ BULK_HOST_MAX_CREATE: 7 });
  await as.superuser.delete('settings/bulk/').expect(204, '');
  expect((await as.nobody.get('config/')).body.BULK_HOST_MAX_CREATE).toBe(100);
  const log = await as.superuser.get('activity_stream/?object1=setting&order_by=-id');
  expect(log.body.results[1].changes).toEqual({ BULK_HOST_MAX_CREATE: [100, 7] });
});

it.each([
  ['BULK_HOST_MAX_CREATE', 'x', 'A valid integer is required.'],
  ['BULK_HOST_MAX_CREATE', 0, 'Ensure this value is greater than or equal to 1.'],
  ['BULK_HOST_MAX_CREATE', 1e9, 'Ensure this value is less than or equal to 100000.'],
  ['BULK_HOST_MAX_CREATE', null, 'A valid integer is required.'],
  [
    'BULK_BODY_LIMIT',
    5000,
    'This setting is read from the environment and cannot be changed here.',
  ],
])('the setting %s = %j is refused', async (name, value, text) => {
  const { body } = await test.as.superuser.patch('settings/bulk/', { [name]: value }).expect(400);
  expect(body).toEqual({ [name]: [text] });
});

it('a failure of the database is not reported as a fault of the setting', async () => {
  const failure = Object.assign(new Error('canceling statement'), { code: '55P03' });
  const rules = test.app.get(SettingRules, { strict: false });
  jest.spyOn(rules, 'faultOf').mockRejectedValueOnce(failure);
  await test.as.superuser.patch('settings/bulk/', { BULK_HOST_MAX_CREATE: 7 }).expect(503);
});

it.each([
  'controller.example.org',
  'ftp://controller.example.org',
  'https://',
  'https://controller.example.org/?a=1',
])('the public address cannot be %s, to which links would not lead', async (BASE_URL) => {
  const text =
    'Must be an http or https URL without a query, such as https://controller.example.com.';
  for (const name of ['BASE_URL', 'TOWER_URL_BASE']) {
    const { body } = await test.as.superuser
      .patch('settings/system/', { [name]: BASE_URL })
      .expect(400);
    expect(body).toEqual({ [name]: [text] });
  }
});

it('environment variables of runs are an object of texts', async () => {
  const { as } = test;
  const AWX_TASK_ENV = { https_proxy: 'http://proxy.example.org:3128', EMPTY: '' };
  const { body } = await as.superuser.patch('settings/jobs/', { AWX_TASK_ENV }).expect(200);
  expect(body).toMatchObject({ AWX_TASK_ENV, GALAXY_TASK_ENV: {} });
  for (const wrong of [{ 'BAD NAME': 'x' }, { A: 1 }, { A: 'a\0b' }, [], 'A=1', null]) {
    const refused = await as.superuser.patch('settings/jobs/', { AWX_TASK_ENV: wrong }).expect(400);
    expect(refused.body).toEqual({
      AWX_TASK_ENV: ['Expected an object of texts by the names of environment variables.'],
    });
  }
  await as.superuser.delete('settings/jobs/').expect(204);
});

it('secrets are never shown, and the whole object can be sent back', async () => {
  const { body, text } = await test.as.superuser.get('settings/all/').expect(200);
  expect(body).toMatchObject({
    DATABASE_URL: '$encrypted$',
    REDIS_URL: '$encrypted$',
    SECRET_KEY: '$encrypted$',
  });
  expect(text).not.toMatch(/postgres:\/\/|redis:\/\/|a key for tests/);
  await test.as.superuser.put('settings/all/', body).expect(200);
  const rows = await test.database.rows(sql`SELECT name FROM settings`);
  expect(rows).toEqual([]);
});

it('settings of other categories and unknown names are refused, and nothing changes', async () => {
  const changes = { BULK_HOST_MAX_CREATE: 7, DEFAULT_JOB_TIMEOUT: 9, NO_SUCH_SETTING: 1 };
  const { body } = await test.as.superuser.patch('settings/bulk/', changes).expect(400);
  expect(body).toEqual({
    DEFAULT_JOB_TIMEOUT: ['This setting belongs to the category "jobs".'],
    NO_SUCH_SETTING: ['There is no setting of this name.'],
  });
  expect((await test.as.superuser.get('settings/changed/')).body).toEqual({});
});

it('settings have the names of existing clients too', async () => {
  const { as } = test;
  const url = 'https://controller.example.org';
  const { body } = await as.superuser
    .patch('settings/system/', { TOWER_URL_BASE: url })
    .expect(200);
  expect(body).toMatchObject({ TOWER_URL_BASE: url, BASE_URL: url, IS_K8S: false });
  const ping = await as.superuser.get('ping/').expect(200);
  expect(body.INSTALL_UUID).toBe(ping.body.install_uuid);
  expect(body.INSTALL_UUID).toMatch(/^[0-9a-f-]{36}$/);
  expect((await as.superuser.get('settings/changed/')).body).toEqual({ BASE_URL: url });
  const log = await as.superuser.get('activity_stream/?object1=setting&order_by=-id');
  expect(log.body.results[0].changes).toEqual({ BASE_URL: ['', url] });
  // A client that sends the whole category back changes only one of the two names.
  const other = 'https://other.example.org';
  const sent = { ...body, TOWER_URL_BASE: other };
  const { body: put } = await as.superuser.put('settings/system/', sent).expect(200);
  expect(put).toMatchObject({ TOWER_URL_BASE: other, BASE_URL: other });
  const both = { BASE_URL: 'https://a.example.org', TOWER_URL_BASE: 'https://b.example.org' };
  const { body: refused } = await as.superuser.patch('settings/system/', both).expect(400);
  expect(Object.keys(refused)).toEqual(['TOWER_URL_BASE']);
  const { text: page } = await as.superuser.get('settings/system/').set('Accept', 'text/html');
  expect(page.match(/name="(?:BASE_URL|TOWER_URL_BASE)"/g)).toEqual(['name="BASE_URL"']);
  await as.superuser.patch('settings/system/', { INSTALL_UUID: 'x' }).expect(400);
  await as.superuser.patch('settings/system/', { IS_K8S: true }).expect(400);
  await as.superuser.delete('settings/system/').expect(204);
  expect((await as.superuser.get('settings/system/')).body.TOWER_URL_BASE).toBe('');
});

it('OPTIONS describes every setting of a category, with readable words and units', async () => {
  const { as } = test;
  const categories: { slug: string; name: string }[] = (await as.superuser.get('settings/')).body
    .results;
  for (const { slug } of categories.filter((one) => one.slug !== 'changed')) {
    const { actions } = (await as.superuser.options(`settings/${slug}/`).expect(200)).body;
    const names = Object.keys((await as.superuser.get(`settings/${slug}/`).expect(200)).body);
    expect(Object.keys(actions.GET)).toEqual(names);
    expect(Object.keys(actions.PUT)).toEqual(names);
    for (const [name, info] of Object.entries<Record<string, unknown>>(actions.PUT)) {
      const category = categories.find((one) => one.slug === info.category_slug);
      expect({ name, ...info }).toMatchObject({
        label: expect.stringMatching(/^[A-Z][A-Za-z0-9 ]+$/),
        category: category?.name,
      });
      expect(info.label).not.toBe(name);
      const { runtime = false } = SETTINGS[declaredName(name) ?? ('' as SettingName)] ?? {};
      expect({ name, isFixed: info.read_only === true }).toEqual({ name, isFixed: !runtime });
    }
  }
  const { PUT } = (await as.superuser.options('settings/all/').expect(200)).body.actions;
  expect(PUT).toMatchObject({
    BULK_HOST_MAX_CREATE: { type: 'integer', label: 'Bulk host max create', default: 100 },
    BULK_BODY_LIMIT: { unit: 'bytes', category: 'Bulk', read_only: true },
    DEFAULT_JOB_TIMEOUT: { unit: 'seconds', category: 'Jobs' },
    DELIVERY_RETENTION: { unit: 'days' },
    BASE_URL: { label: 'Base URL' },
  });
  expect(PUT.BULK_HOST_MAX_CREATE).not.toHaveProperty('unit');
});

it('the page of a category shows only its settings', async () => {
  const page = await test.as.superuser.get('settings/bulk/').set('Accept', 'text/html').expect(200);
  const asked = [...page.text.matchAll(/ name="([A-Z][A-Z_]+)"/g)].map(([, name]) => name!);
  const { body } = await test.as.superuser.options('settings/bulk/').expect(200);
  const settings = Object.entries<{ read_only: boolean }>(body.actions.PUT);
  const open = settings.filter(([, { read_only: isFixed }]) => !isFixed).map(([name]) => name);
  expect([...new Set(asked)].sort()).toEqual(open.sort());
});

it('the notice of the operator is shown at the login until it is reset', async () => {
  const { as } = test;
  const notice = 'Ask <ops@example.org> for an account.';
  await as.superuser.patch('settings/ui/', { CUSTOM_LOGIN_INFO: notice }).expect(200);
  const page = await as.anonymous.get('/api/login/').set('Accept', 'text/html').expect(200);
  expect(page.text).toContain('Ask &lt;ops@example.org&gt; for an account.');
  const root = await as.anonymous.get('/api/').expect(200);
  expect(root.body.custom_login_info).toBe(notice);
  await as.superuser.delete('settings/ui/').expect(204);
  expect((await as.anonymous.get('/api/').expect(200)).body.custom_login_info).toBe('');
});

describe('CUSTOM_LOGO', () => {
  const PIXEL = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
  const logo = `data:image/gif;base64,${PIXEL}`;
  afterEach(() => test.as.superuser.delete('settings/ui/').expect(204));

  it('appears on all pages until it is reset', async () => {
    const { as } = test;
    const own = await as.anonymous.get('/logo/').expect(302);
    expect(own.headers.location).toMatch(/^\/static\/favicon\.[0-9a-f]+\.svg$/);
    await as.anonymous.get(own.headers.location!).expect(200).expect('Content-Type', /svg/);
    await as.superuser.patch('settings/ui/', { CUSTOM_LOGO: logo }).expect(200);
    const shown = await as.anonymous.get('/logo/').expect(200);
    expect(shown.headers).toMatchObject({
      'content-type': 'image/gif',
      'x-content-type-options': 'nosniff',
    });
    expect((shown.body as Buffer).toString('base64')).toBe(PIXEL);
    expect((await as.anonymous.get('/api/').expect(200)).body.custom_logo).toBe(logo);
    await as.superuser.patch('settings/ui/', { CUSTOM_LOGO: '' }).expect(200);
    await as.anonymous.get('/logo/').expect(302);
  });

  it.each([
    ['a text', 'logo.png'],
    ['an address', 'https://example.org/logo.png'],
    ['an image that may hold a script', `data:image/svg+xml;base64,${PIXEL}`],
    ['a page', `data:text/html;base64,${PIXEL}`],
    ['data that is not base64', 'data:image/png;base64,@@@@'],
    ['data of half a group', 'data:image/png;base64,QUJDR'],
    ['more after the data', `${logo}"><script>`],
    ['a line after the data', `${logo}\n`],
  ])('refuses %s', async (_what, value) => {
    const { body } = await test.as.superuser
      .patch('settings/ui/', { CUSTOM_LOGO: value })
      .expect(400);
    expect(body).toEqual({ CUSTOM_LOGO: [expect.stringContaining('Must be a data URL')] });
  });

  it('has a maximum length, and is short in the activity stream', async () => {
    const { as } = test;
    const long = (count: number): string => `data:image/png;base64,${'QUJD'.repeat(count)}`;
    const { body } = await as.superuser
      .patch('settings/ui/', { CUSTOM_LOGO: long(50_000) })
      .expect(400);
    expect(body).toEqual({ CUSTOM_LOGO: ['Ensure this value has at most 200000 characters.'] });
    await as.superuser.patch('settings/ui/', { CUSTOM_LOGO: long(40_000) }).expect(200);
    const log = await as.superuser.get('activity_stream/?object1=setting&order_by=-id');
    expect(log.body.results[0].changes.CUSTOM_LOGO[1]).toHaveLength(4097);
  });
});

describe('pages', () => {
  const pageAt = async (path: string, client = test.as.superuser): Promise<string> =>
    (await client.get(path).set('Accept', 'text/html').expect(200)).text;
  const runOf = async (columns: Record<string, unknown>): Promise<number> => {
    const row = await test.database.row<{ id: number }>(
      insertRow('unified_jobs', { name: 'Shown', status: 'running', ...columns }),
    );
    return row!.id;
  };
  let job: number;
  let workflow: number;
  beforeAll(async () => {
    job = await runOf({ type: 'job', launch_config: '{}' });
    workflow = await runOf({ type: 'workflow_job' });
    await test.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, uuid, stdout, start_line, end_line)
      SELECT ${job}, n, 'verbose', '', 'line of event ' || n, n, n + 1
      FROM generate_series(1, 120) n`);
  });
  afterEach(() => test.as.superuser.delete('settings/ui/').expect(204));

  it('show the logo in their header, even without a login', async () => {
    const image = '<img class="mark" src="/logo/" alt=""';
    expect(await pageAt('/')).toContain(image);
    expect(await pageAt('/api/login/', test.as.anonymous)).toContain(image);
  });

  it('are updated automatically unless UI_LIVE_UPDATES_ENABLED disables it', async () => {
    const paths = ['/', `jobs/${job}/`, `workflow_jobs/${workflow}/`];
    for (const path of paths) expect(await pageAt(path)).toMatch(/<script[^>]+live\./);
    await test.as.superuser.patch('settings/ui/', { UI_LIVE_UPDATES_ENABLED: false }).expect(200);
    for (const path of paths) {
      expect(await pageAt(path)).not.toMatch(/<script[^>]+live\.|data-live(?:-graph)?=/);
    }
    const hint = /<p class="hint">\s*Reload this page/;
    for (const path of paths.slice(1)) expect(await pageAt(path)).toMatch(hint);
  });

  it('show at most MAX_UI_JOB_EVENTS events of a run', async () => {
    const shown = async (): Promise<number> =>
      [...(await pageAt(`jobs/${job}/`)).matchAll(/line of event \d+/g)].length;
    expect(await shown()).toBe(120);
    await test.as.superuser.patch('settings/ui/', { MAX_UI_JOB_EVENTS: 100 }).expect(200);
    expect(await shown()).toBe(100);
  });
});

it('the formats of named URLs are shown, and cannot be changed', async () => {
  const { as } = test;
  const { body } = await as.superuser.get('settings/named-url/').expect(200);
  expect(body.NAMED_URL_FORMATS).toMatchObject({
    organizations: '<name>',
    teams: '<name>++<organization.name>',
  });
  await as.superuser.put('settings/named-url/', body).expect(200, body);
  const refused = await as.superuser
    .patch('settings/named-url/', { NAMED_URL_FORMATS: {} })
    .expect(400);
  expect(refused.body).toEqual({
    NAMED_URL_FORMATS: ['This setting is computed by the program and cannot be changed.'],
  });
});

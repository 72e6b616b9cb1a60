/** Every refusal writes one log line without secrets and increments the counter of its kind. */
import { ConsoleLogger } from '@nestjs/common';

import { JsonLogger } from '../../src/logging/json-logger.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';

const CANARY = 'canary-9d1c';

interface Line {
  level: string;
  context: string;
  event: string;
  method: string;
  path: string;
  source: string;
  user?: string;
  requestId: string;
}

let test: TestApp;
let written = '';
beforeAll(async () => {
  test = await boot({ own: true });
  await test.make.user({ username: 'ada', password: `${CANARY}-good` });
  test.app.useLogger(new JsonLogger('warn'));
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written += String(text);
    return true;
  });
});
beforeEach(() => {
  written = '';
});
afterAll(async () => {
  jest.restoreAllMocks();
  test.app.useLogger(new ConsoleLogger({ logLevels: ['error', 'fatal'] }));
  await test.close();
});

const lines = (): Line[] =>
  written
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ context }) => context === 'Security');

async function countOf(event: string): Promise<number> {
  const { text } = await test.as.superuser.get('/metrics').expect(200);
  const found = new RegExp(`^controller_security_events_total\\{event="${event}"\\} (\\d+)$`, 'm');
  return Number(found.exec(text)?.[1]);
}

/** Asserts that exactly one line of the kind is logged and the counter grows by one. */
async function expectEvent(event: string, refused: () => PromiseLike<unknown>): Promise<Line> {
  const before = await countOf(event);
  written = '';
  await refused();
  const events = lines();
  expect(written).not.toContain(CANARY);
  expect(events.map((line) => line.event)).toEqual([event]);
  expect(await countOf(event)).toBe(before + 1);
  return events[0] as Line;
}

const basic = (user: string, password: string): ApiClient =>
  test.as.anonymous.with({
    Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  });

it('a wrong password of an existing user is logged', async () => {
  const line = await expectEvent('login_refused', () =>
    basic('ada', `${CANARY}-wrong`).get(`teams/?search=${CANARY}`).expect(401),
  );
  expect(line).toMatchObject({
    level: 'warn',
    method: 'GET',
    path: '/api/v2/teams/',
    user: 'ada',
    source: expect.stringContaining('127.0.0.1') as string,
    requestId: expect.any(String) as string,
  });
});

it('a wrong password of an unknown user is logged without the name', async () => {
  const line = await expectEvent('login_refused', () =>
    basic(CANARY, CANARY).get('teams/').expect(401),
  );
  expect(line.user).toBeUndefined();
});

it('a wrong password at a public URL is logged', async () => {
  await expectEvent('login_refused', () => basic('ada', CANARY).get('/api/').expect(200));
});

it('a wrong password in the login form is logged', async () => {
  const csrf = 'a'.repeat(32);
  const form = test.as.anonymous.with({ Cookie: `csrftoken=${csrf}`, 'X-CSRFToken': csrf });
  await expectEvent('login_refused', () =>
    form.post('/api/login/', { username: 'ada', password: CANARY }).expect(401),
  );
});

it('a request without credentials or with an invalid token is logged', async () => {
  const line = await expectEvent('unauthenticated', () =>
    test.as.anonymous.get('teams/').expect(401),
  );
  expect(line.user).toBeUndefined();
  await expectEvent('unauthenticated', () =>
    test.as.anonymous
      .with({ Authorization: `Bearer ${CANARY}` })
      .get('teams/')
      .expect(401),
  );
});

it('a forbidden request is logged', async () => {
  const { as, home } = test;
  const line = await expectEvent('forbidden', () =>
    as.nobody.patch(`organizations/${home.organization.id}/`, { name: CANARY }).expect(403),
  );
  expect(line).toMatchObject({ user: 'nobody', method: 'PATCH' });
});

it('a form from another site is logged', async () => {
  await expectEvent('csrf', () =>
    test.as.anonymous.post('/api/login/', { username: 'ada', password: CANARY }).expect(403),
  );
});

it('a grant without permission is logged', async () => {
  const { as, home, make } = test;
  const team = await make.role('team', home.team, 'admin_role');
  const line = await expectEvent('grant_denied', () =>
    as.teamMember.post(`roles/${team.id}/users/`, { id: as.users.teamMember.id }).expect(403),
  );
  expect(line.user).toBe('teamMember');
  const member = await make.role('organization', home.organization, 'member_role');
  await expectEvent('grant_denied', () =>
    as.orgAdmin.post(`roles/${member.id}/teams/`, { id: home.team.id }).expect(400),
  );
});

it('a delivery without a valid signature is logged', async () => {
  const template = await test.make.jobTemplate({ webhook_service: 'service_a' });
  const line = await expectEvent('delivery_rejected', () =>
    test.as.anonymous
      .with({ 'X-Service-A-Event': 'push', 'X-Service-A-Signature': `sha1=${CANARY}` })
      .post(`job_templates/${template.id}/service_a/`, { ref: CANARY })
      .expect(403),
  );
  expect(line.path).toBe(`/api/v2/job_templates/${template.id}/service_a/`);
});

it('successful requests are not logged', async () => {
  written = '';
  await test.as.superuser.get('teams/').expect(200);
  await test.as.superuser.get('teams/999999/').expect(404);
  expect(lines()).toEqual([]);
});

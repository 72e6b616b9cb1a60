/**
 * Every route responds to every caller with the status in matrix.json, which has one line per route. A route
 * without a line, or a line without a route, fails. After an intended change record it again with
 * `RECORD_MATRIX=1 npm test -- matrix` and read the difference: each changed status gives a caller more or
 * fewer rights.
 *
 * Budget: 60 s, because twelve callers send a request to every route.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { resource, resources, type Row } from '../../src/common/resource/define-resource.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples } from '../support/samples.js';

/**
 * Callers from the weakest to the strongest: those who may delete a sample come last. In addition to the
 * personas, the reader has `read_role` on every sample, the executor `execute_role` and the template admin
 * `admin_role` on the templates, and no other roles. The team member has the roles granted to the team.
 */
const CALLERS = [
  'anonymous',
  'nobody',
  'outsider',
  'reader',
  'executor',
  'teamMember',
  'teamAdmin',
  'orgMember',
  'auditor',
  'templateAdmin',
  'orgAdmin',
  'superuser',
] as const;

type Caller = (typeof CALLERS)[number];

/** Role of a caller on each sample of a type. */
const ROLES: Partial<Record<Caller, (type: string) => string>> = {
  reader: () => 'read_role',
  executor: () => 'execute_role',
  templateAdmin: (type) => (/_template$/.test(type) ? 'admin_role' : 'none'),
};

const FILE = join(PACKAGE_FOLDER, 'test', 'access', 'matrix.json');
/** Routes that need no credentials. */
const OPEN =
  /^(?:GET \/|GET \/api\/(?:o\/)?|GET \/api\/login\/(?:code\/)?|POST \/api\/log(?:in|out)\/|GET \/api\/v2\/(?:(?:auth|ping)\/)?|GET \/api\/docs\/.*|GET \/logo\/|GET \/sso\/.*|GET \/\.well-known\/.*|POST \/sso\/callback\/.*|GET \/health\/(?:live|ready)\/)$/;
/** Routes that succeed only once for an object. */
const ONCE = /\/(?:bulk\/host_delete|notifications\/:id\/resend)$/;
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

let test: TestApp;
let samples: Samples;
const clients = {} as Record<Caller, ApiClient>;
beforeAll(async () => {
  test = await boot();
  const holders = new Map<Caller, Row>();
  for (const caller of CALLERS) {
    if (caller in ROLES) holders.set(caller, await test.make.user({ username: caller }));
    const user = holders.get(caller);
    clients[caller] = user ? await test.as.asUser(user) : test.as[caller as 'superuser'];
  }
  samples = new Samples(test, async (made, row) => {
    const type = made === 'constructed_inventory' ? 'inventory' : made;
    for (const [caller, user] of holders) {
      const field = ROLES[caller]!(type);
      // On the organization, the role of an executor would include more.
      if (type === 'organization' && field !== 'read_role') continue;
      if (!resource(type).roles.some((role) => role.field === field)) continue;
      await test.make.grant(type, row, field, { user });
    }
  });
  await samples.of('organization');
});
beforeEach(() => samples.reset());
afterAll(() => test.close());

it('the permission matrix equals the recorded one', async () => {
  const found = await statuses();
  if (process.env.RECORD_MATRIX) {
    const recorded = { callers: CALLERS.join(' '), routes: found };
    writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`);
  }
  const expected = JSON.parse(readFileSync(FILE, 'utf8')) as { callers: string; routes: object };
  expect(expected.callers).toBe(CALLERS.join(' '));
  expect(found).toEqual(expected.routes);
}, 600_000);

it('the matrix contains no server errors, and anonymous callers are refused', () => {
  const { routes } = JSON.parse(readFileSync(FILE, 'utf8')) as { routes: Record<string, string> };
  for (const [route, line] of Object.entries(routes)) {
    expect(`${route}: ${line}`).not.toMatch(/\b5\d\d\b/);
    if (!OPEN.test(route)) expect(`${route}: ${line}`).toMatch(/: 40[13] /);
  }
});

it('each list contains exactly the objects that the caller may read', async () => {
  const { routes } = JSON.parse(readFileSync(FILE, 'utf8')) as { routes: Record<string, string> };
  const faults: string[] = [];
  for (const definition of resources().filter(({ stored, variants }) => stored && !variants)) {
    const { path, type, policy } = definition;
    const { id } = await samples.of(type);
    for (const [index, caller] of CALLERS.entries()) {
      if (caller === 'anonymous') continue;
      const list = await clients[caller].get(`${path}/?id=${id}`);
      if (list.status === 404) continue;
      // A list may be refused to callers who may open none of its objects.
      const count = list.status === 403 ? 0 : list.body.count;
      const opened = routes[`GET /api/v2/${path}/:id/`]?.split(' ')[index] === '200';
      // Workflow jobs of bulk launches may be opened by their author and are listed to administrators
      // (docs/contract/bulk.md#who-sees-the-workflow-job).
      const differs = policy.list ? count > Number(opened) : count !== Number(opened);
      if (differs) faults.push(`${path} as ${caller}: ${count} listed, opened: ${opened}`);
    }
  }
  expect(faults).toEqual([]);
});

async function statuses(): Promise<Record<string, string>> {
  const routes = [...test.app.get(RouteTable, { strict: false }).routes].sort(
    (a, b) =>
      a.pattern.localeCompare(b.pattern) || ORDER.indexOf(a.method) - ORDER.indexOf(b.method),
  );
  const found: Record<string, string> = {};
  for (const route of routes) {
    const line: number[] = [];
    if (route.method === 'GET') {
      line.push(...(await Promise.all(CALLERS.map((caller) => statusOf(route, caller)))));
    } else {
      for (const caller of CALLERS) line.push(await statusOf(route, caller));
    }
    found[`${route.method} ${route.pattern.replace(/\/$/, '')}/`] = line.join(' ');
  }
  return found;
}

async function statusOf(route: TableRoute, caller: Caller): Promise<number> {
  const path = await samples.pathOf(route);
  const body = await bodyOf(samples, route);
  const { status } = await clients[caller].request(route.method, path, body).redirects(0);
  const isOnce = route.method === 'DELETE' || ONCE.test(route.pattern);
  if (isOnce && status < 300) samples.reset();
  return status;
}

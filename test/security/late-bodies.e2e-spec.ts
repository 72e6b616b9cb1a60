/**
 * A caller who loses a permission during a request writes nothing. The head and half of the body are sent,
 * the permission is revoked, and the rest follows; or the permission is revoked between the last check and
 * the commit.
 *
 * Budget: 35 s, because it walks every writing route twice.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { SessionsService } from '../../src/auth/sessions.service.js';
import { tokenDigest } from '../../src/common/crypto/tokens.js';
import { CSRF_COOKIE, SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { csrfTokenOf } from '../../src/common/http/csrf.js';
import { RequestBodies } from '../../src/common/http/request-bodies.service.js';
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples } from '../support/samples.js';

/** Login and logout routes, which check no permission of the caller. */
const OPEN = /^api\/log(in|out)/;

let test: TestApp;
let samples: Samples;
/** Called with the header of the caller when the body of a request is being read. */
const onRead = new Map<string | undefined, () => void>();
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  const bodies = test.app.get(RequestBodies, { strict: false });
  const read = bodies.read.bind(bodies);
  jest.spyOn(bodies, 'read').mockImplementation((request, ...further) => {
    onRead.get(request.headers.authorization)?.();
    return read(request, ...further);
  });
});
afterAll(() => test.close());

interface Halves {
  method: string;
  path: string;
  token: string;
  type?: string;
  body: string;
}

/** Sends a request in two parts, with `between` in the middle. @returns the status of the response */
async function sendInHalves(
  { method, path, token, type = 'application/json', body }: Halves,
  between: () => Promise<unknown>,
): Promise<number> {
  const { hostname, port } = new URL(test.url);
  const socket = connect(Number(port), hostname);
  const reply = textOf(socket);
  const half = Math.ceil(body.length / 2);
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${hostname}`,
    `Authorization: Bearer ${token}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, half)}`);
  const hasBegun = type === 'application/json' ? isRead(token) : isUsed(token);
  // Some routes refuse the request without reading the body.
  await Promise.race([hasBegun.catch(() => reply), reply]);
  await between();
  socket.write(body.slice(half));
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await reply)?.[1]);
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  return text;
}

/** Resolves when the guards are done and the body is being read. */
const isRead = (token: string): Promise<void> =>
  new Promise((resolve) => onRead.set(`Bearer ${token}`, resolve));

/** Resolves when the caller is authenticated; lines are read by their handler. */
const isUsed = (token: string): Promise<void> =>
  eventually(async () => {
    const digest = tokenDigest(token);
    const row = await test.database.row(
      sql`SELECT 1 AS used FROM tokens WHERE digest = ${digest} AND last_used IS NOT NULL`,
    );
    expect(row).toBeDefined();
  });

const forget = (token: string): Promise<unknown> =>
  test.database.execute(sql`DELETE FROM tokens WHERE digest = ${tokenDigest(token)}`);

const entries = async (): Promise<number> =>
  Number(
    (await test.database.row<{ n: number }>(sql`SELECT count(*) AS n FROM activity_stream`))?.n,
  );

interface WritingRequest {
  method: string;
  path: string;
  body: string;
}

/** A request to every writing route, with which a superuser would change something where that is possible. */
async function writingRequests(): Promise<WritingRequest[]> {
  const routes = test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ method, info, pattern }) => {
      const writes = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method);
      // The route that tests filters writes nothing.
      const isTrial = pattern.endsWith('webhook_filters/test');
      return writes && !isTrial && info?.access === 'authenticated' && !OPEN.test(pattern);
    });
  expect(routes.length).toBeGreaterThan(100);
  const requests: WritingRequest[] = [];
  for (const route of routes) {
    const path = await samples.pathOf(route);
    const body = JSON.stringify((await bodyOf(samples, route)) ?? {}).padEnd(20);
    requests.push({ method: route.method, path, body });
  }
  return requests;
}

const demote = (user: Row): Promise<unknown> =>
  test.database.execute(sql`UPDATE users SET is_superuser = false WHERE id = ${user.id}`);
const promote = (user: Row): Promise<unknown> =>
  test.database.execute(sql`UPDATE users SET is_superuser = true WHERE id = ${user.id}`);

describe('every route that writes', () => {
  let requests: WritingRequest[];
  let superuser: Row;
  beforeAll(async () => {
    requests = await writingRequests();
    superuser = await test.make.user({ is_superuser: true });
  });

  it('refuses a caller whose token, account, role or superuser flag was removed', async () => {
    const { make, home } = test;
    const admin = await make.user();
    const takeRole = (): Promise<unknown> =>
      make.revoke('organization', home.organization, 'admin_role', { user: admin });
    const faults: string[] = [];
    let unauthenticated = 0;
    for (const { method, path, body } of requests.filter((one) => one.method !== 'DELETE')) {
      await promote(superuser);
      await make.grant('organization', home.organization, 'admin_role', { user: admin });
      const leaver = await make.user({ is_superuser: true });
      const losses: [Row, (token: string) => Promise<unknown>][] = [
        [test.as.users.superuser, forget],
        [leaver, () => test.database.execute(sql`DELETE FROM users WHERE id = ${leaver.id}`)],
        [superuser, () => demote(superuser)],
        [admin, takeRole],
      ];
      const tokens = await make.tokens(losses.map(([user]) => user));
      onRead.clear();
      let before = 0;
      let begun = 0;
      let resolve = (): void => {};
      const lost = new Promise<void>((done) => (resolve = done));
      const lose = async (): Promise<void> => {
        begun += 1;
        if (begun < losses.length) return lost;
        for (const [at, [, take]] of losses.entries()) await take(tokens[at]!);
        before = await entries();
        resolve();
      };
      const statuses = await Promise.all(
        tokens.map((token) => sendInHalves({ method, path, token, body }, lose)),
      );
      unauthenticated += statuses.filter((status) => status === 401).length;
      // Every authenticated user may create a token.
      const mayStay = path === '/api/v2/tokens/' ? 2 : 0;
      const taken = statuses.filter((status) => status < 400).length;
      const written = (await entries()) - before;
      if (taken > mayStay || written > mayStay) {
        faults.push(`${method} ${path}: ${statuses.join()}, ${written}`);
      }
    }
    expect(faults).toEqual([]);
    expect(unauthenticated).toBeGreaterThan(requests.length);
  });

  it('writes nothing for a caller who loses permissions before the commit', async () => {
    const token = await test.make.token(superuser);
    const faults: string[] = [];
    let waited = 0;
    for (const { method, path, body } of requests) {
      await promote(superuser);
      const before = await entries();
      const content = method === 'DELETE' ? {} : { body };
      const sent = { method, path, headers: bearer(token), ...content };
      const { status, hasWaited } = await sendBeside(sent, () => demote(superuser));
      waited += hasWaited ? 1 : 0;
      const written = (await entries()) - before;
      if (status < 400 || written > 0) faults.push(`${method} ${path}: ${status}, ${written}`);
    }
    expect(faults).toEqual([]);
    expect(waited).toBeGreaterThan(requests.length / 2);
  });
});

interface Complete {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

/**
 * Sends a request while `change` is not committed yet. The guards of the request see the former state; the
 * change is committed when the request waits for it, or has its response.
 */
async function sendBeside(
  { method, path, headers, body }: Complete,
  change: () => Promise<unknown>,
): Promise<{ status: number; hasWaited: boolean }> {
  let isAnswered = false;
  let hasWaited = false;
  const { sending } = await test.database.transaction(async () => {
    await change();
    const sending = fetch(`${test.url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    }).finally(() => (isAnswered = true));
    await eventually(
      async () => {
        if (isAnswered) return;
        await assertWaiting();
        hasWaited = true;
      },
      5000,
      FIRST_LOOK_MS,
    );
    return { sending };
  });
  return { status: (await sending).status, hasWaited };
}

/** A request waits for a lock after some milliseconds, and the walk sends many. */
const FIRST_LOOK_MS = 4;

/** Throws unless a statement waits for a lock. */
async function assertWaiting(): Promise<void> {
  const row = await test.database.withClient((client) =>
    client.query(`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1`),
  );
  expect(row.rowCount).toBe(1);
}

describe('between the last check and the commit', () => {
  it('a deleted token writes nothing', async () => {
    const { make, as, home } = test;
    const token = await make.token(as.users.orgAdmin);
    const body = JSON.stringify({ name: 'too late', organization: home.organization.id });
    const sent = { method: 'POST', path: '/api/v2/teams/', headers: bearer(token), body };
    expect(await sendBeside(sent, () => forget(token))).toEqual({ status: 401, hasWaited: true });
    expect((await as.superuser.get('teams/?name=too+late')).body.count).toBe(0);
  });

  it('a token that became read-only writes nothing', async () => {
    const token = await test.make.token(test.as.users.orgAdmin);
    const sent = { method: 'POST', path: '/api/v2/teams/', headers: bearer(token) };
    const narrow = (): Promise<unknown> =>
      test.database.execute(
        sql`UPDATE tokens SET scope = 'read' WHERE digest = ${tokenDigest(token)}`,
      );
    const body = JSON.stringify({ name: 'narrow', organization: test.home.organization.id });
    expect((await sendBeside({ ...sent, body }, narrow)).status).toBe(403);
  });

  it.each([
    ['change', 'PATCH', '', { name: 'too late' }],
    ['deletion', 'DELETE', '', undefined],
    ['member', 'POST', 'users/', { username: 'too-late', password: '' }],
  ])('a revoked role permits no %s', async (_what, method, list, body) => {
    const { make, as, home, database } = test;
    const team = await make.team({ organization: home.organization.id });
    const user = await make.user();
    for (const [type, object] of [
      ['team', team],
      ['organization', home.organization],
    ] as const) {
      await make.grant(type, object, 'admin_role', { user });
    }
    const token = await make.token(user);
    const path = `/api/v2/teams/${team.id}/${list}`;
    const content = body ? { body: JSON.stringify(body) } : {};
    const sent = { method, path, headers: bearer(token), ...content };
    const { status } = await sendBeside(sent, async () => {
      await database.execute(sql`UPDATE users SET last_name = 'x' WHERE id = ${user.id}`);
      await make.revoke('organization', home.organization, 'admin_role', { user });
      await make.revoke('team', team, 'admin_role', { user });
    });
    expect(status).toBe(403);
    const { body: after } = await as.superuser.get(`teams/${team.id}/`).expect(200);
    expect(after.name).toBe(team.name);
    expect((await as.superuser.get('users/?username=too-late')).body.count).toBe(0);
  });

  it('a session from before a password change writes nothing', async () => {
    const { app, make, home, database } = test;
    const user = await make.user({ is_superuser: true });
    const session = await app.get(SessionsService, { strict: false }).start(user.id);
    const csrf = csrfTokenOf(session);
    const headers = {
      Cookie: `${SESSION_COOKIE}=${session}; ${CSRF_COOKIE}=${csrf}`,
      'X-CSRFToken': csrf,
    };
    const body = JSON.stringify({ name: 'former', organization: home.organization.id });
    const sent = { method: 'POST', path: '/api/v2/teams/', headers, body };
    const change = (): Promise<unknown> =>
      database.execute(sql`
        UPDATE users SET session_generation = session_generation + 1 WHERE id = ${user.id}`);
    expect(await sendBeside(sent, change)).toEqual({ status: 401, hasWaited: true });
  });
});

it('simultaneous changes of users by themselves cause no deadlock', async () => {
  const { as, make, home } = test;
  const users = [await make.user(), await make.user()];
  for (const user of users) {
    await make.grant('organization', home.organization, 'admin_role', { user });
    await make.grant('organization', home.organization, 'member_role', { user });
  }
  const clients = await Promise.all(users.map((user) => as.asUser(user)));
  const requests = Array.from({ length: 12 }, async (_, at) => {
    // Both change their own accounts and those of each other.
    const path = `users/${users[Math.floor(at / 2) % 2]!.id}/`;
    const { status } = await clients[at % 2]!.patch(path, { first_name: `name ${at}` });
    return status;
  });
  expect(new Set(await Promise.all(requests))).toEqual(new Set([200]));
});

describe('a caller who lost', () => {
  async function patch(path: string, user: Row, body: object, loss: () => Promise<unknown>) {
    const token = await test.make.token(user);
    return sendInHalves({ method: 'PATCH', path, token, body: JSON.stringify(body) }, loss);
  }

  async function revoke(type: string, object: Row, user: Row): Promise<void> {
    const { id } = await test.make.role(type, object, 'admin_role');
    const body = { id: user.id, disassociate: true };
    await test.as.superuser.post(`roles/${id}/users/`, body).expect(204);
  }

  it('the superuser flag cannot restore it', async () => {
    const user = await test.make.user({ is_superuser: true });
    const path = `/api/v2/users/${user.id}/`;
    const loss = (): Promise<unknown> =>
      test.database.execute(sql`UPDATE users SET is_superuser = false WHERE id = ${user.id}`);
    expect(await patch(path, user, { is_superuser: true }, loss)).toBe(403);
  });

  it('a role on an object cannot change it', async () => {
    const { as, make, home } = test;
    const team = await make.team({ organization: home.organization.id });
    const user = await make.user({});
    await make.grant('team', team, 'admin_role', { user });
    const loss = (): Promise<unknown> => revoke('team', team, user);
    expect(await patch(`/api/v2/teams/${team.id}/`, user, { name: 'taken' }, loss)).toBe(403);
    const { body } = await as.superuser.get(`teams/${team.id}/`).expect(200);
    expect(body.name).toBe(team.name);
  });

  it('a role on an inventory cannot add hosts as lines', async () => {
    const { as, make, home } = test;
    const inventory = await make.inventory({ organization: home.organization.id });
    const user = await make.user({});
    await make.grant('inventory', inventory, 'admin_role', { user });
    const token = await make.token(user);
    const status = await sendInHalves(
      {
        ...{ method: 'POST', path: `/api/v2/bulk/host_create/?inventory=${inventory.id}`, token },
        ...{ type: 'application/x-ndjson', body: '{"name": "one"}\n{"name": "two"}\n' },
      },
      () => revoke('inventory', inventory, user),
    );
    expect(status).toBe(400);
    const { body } = await as.superuser.get(`inventories/${inventory.id}/hosts/`).expect(200);
    expect(body.count).toBe(0);
  });
});

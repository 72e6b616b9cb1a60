/**
 * A caller who loses a permission while a body is on its way: the head and the first half are sent, the
 * permission is taken, the rest follows. Nothing is written.
 *
 * Budget: 25 s, because it walks every writing route.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { tokenDigest } from '../../src/common/crypto/tokens.js';
import { RequestBodies } from '../../src/common/http/request-bodies.service.js';
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples } from '../support/samples.js';

/** Routes of people who log in or out: no permission of a caller is asked. */
const OPEN = /^api\/log(in|out)/;

let test: TestApp;
let samples: Samples;
let reading: jest.SpyInstance;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  reading = jest.spyOn(test.app.get(RequestBodies, { strict: false }), 'read');
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
  const calls = reading.mock.calls.length;
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
  const hasBegun = type === 'application/json' ? isRead(calls) : isUsed(token);
  // Some routes refuse without a look at the body.
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
const isRead = (calls: number): Promise<void> =>
  eventually(() => expect(reading.mock.calls.length).toBeGreaterThan(calls));

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

it('refuses every writing route when the token is gone', async () => {
  const routes = test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ method, info, pattern }) => {
      const writes = ['POST', 'PUT', 'PATCH'].includes(method);
      return writes && info?.access === 'authenticated' && !OPEN.test(pattern);
    });
  expect(routes.length).toBeGreaterThan(100);
  const faults: string[] = [];
  let unauthenticated = 0;
  for (const route of routes) {
    const path = await samples.pathOf(route);
    const body = JSON.stringify((await bodyOf(samples, route)) ?? {}).padEnd(20);
    const token = await test.make.token(test.as.users.superuser);
    const before = await entries();
    const status = await sendInHalves({ method: route.method, path, token, body }, () =>
      forget(token),
    );
    const written = (await entries()) - before;
    if (status === 401) unauthenticated += 1;
    if (status < 400 || written > 0) {
      faults.push(`${route.method} ${path}: ${status}, ${written}`);
    }
  }
  expect(faults).toEqual([]);
  expect(unauthenticated).toBeGreaterThan(0.9 * routes.length);
});

describe('a caller who loses', () => {
  async function patch(path: string, user: Row, body: object, loss: () => Promise<unknown>) {
    const token = await test.make.token(user);
    return sendInHalves({ method: 'PATCH', path, token, body: JSON.stringify(body) }, loss);
  }

  async function revoke(type: string, object: Row, user: Row): Promise<void> {
    const { id } = await test.make.role(type, object, 'admin_role');
    const body = { id: user.id, disassociate: true };
    await test.as.superuser.post(`roles/${id}/users/`, body).expect(204);
  }

  it('the superuser flag cannot take it back', async () => {
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

  it('a role on an inventory adds no hosts by lines', async () => {
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

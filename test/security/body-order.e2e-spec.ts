/** A body is read only after the caller has been authenticated and authorized for the URL. */
import { connect } from 'node:net';
import type { Transform } from 'node:stream';
import zlib, { gzipSync } from 'node:zlib';

import { SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { CSRF_FIELD, csrfTokenOf } from '../../src/common/http/csrf.js';
import { SessionsService } from '../../src/auth/sessions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import type { PersonaName } from '../support/personas.js';
import { countQueries } from '../support/queries.js';

const LIMIT = 100_000;
const BAD_JSON = '{"name":';
const BOMB = gzipSync(Buffer.alloc(10_000_000, ' '));
const UNAUTHENTICATED = { detail: expect.stringMatching(/^Authentication credentials were not/) };
const FORBIDDEN = { detail: 'You do not have permission to perform this action.' };
const COMPRESSED = { detail: 'The body must not be compressed.' };

let test: TestApp;
beforeAll(async () => {
  test = await boot({
    settings: { BODY_LIMIT: String(LIMIT), BULK_BODY_LIMIT: String(2 * LIMIT) },
  });
});
afterAll(() => test.close());
afterEach(() => jest.restoreAllMocks());

type Headers = Record<string, string>;
const bearer = async (name: PersonaName): Promise<Headers> => ({
  Authorization: `Bearer ${await test.make.token(test.as.users[name])}`,
});

interface Sent {
  method?: string;
  headers?: Headers;
  body: string | Buffer;
}

async function send(
  path: string,
  { method = 'POST', headers = {}, body }: Sent,
): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${test.url}/api/v2/${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: body as string,
  });
  return { status: answer.status, body: await answer.json() };
}

describe('an unauthenticated caller', () => {
  it.each(['organizations/', 'bulk/job_launch/', 'bulk/host_create/', 'nothing/', 'teams/1/'])(
    'gets 401 at %s, for any body',
    async (path) => {
      const over = `{"name": "${'x'.repeat(3 * LIMIT)}"}`;
      for (const body of [BAD_JSON, '[]', over]) {
        expect(await send(path, { body })).toEqual({ status: 401, body: UNAUTHENTICATED });
      }
      const type = { 'Content-Type': 'text/plain' };
      expect((await send(path, { body: 'x', headers: type })).status).toBe(401);
    },
  );

  it('cannot cause a body to be decompressed', async () => {
    const unpacking = ['Gunzip', 'Inflate', 'BrotliDecompress'].map((name) => {
      const { prototype } = (zlib as unknown as Record<string, { prototype: Transform }>)[name]!;
      return jest.spyOn(prototype, '_transform');
    });
    for (const encoding of ['gzip', 'deflate', 'br']) {
      const headers = { 'Content-Encoding': encoding };
      expect(await send('teams/', { headers, body: BOMB })).toEqual({
        status: 401,
        body: UNAUTHENTICATED,
      });
    }
    for (const spy of unpacking) expect(spy).not.toHaveBeenCalled();
  });

  it('gets a response before the body is complete, on a connection that is then closed', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        resolve(chunk.toString());
        socket.destroy();
      });
      socket.write(
        'POST /api/v2/teams/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
          'Content-Length: 50000000\r\n\r\n{',
      );
    });
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('cannot cause a form to be parsed without a cookie of the API, or a large form', async () => {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const cookie = { ...type, Cookie: `${SESSION_COOKIE}=acs_nobody` };
    const many = 'a=1&'.repeat(2000);
    for (const headers of [type, cookie]) {
      for (const body of [many, `a=${'x'.repeat(70_000)}`, `a=${'x'.repeat(2 * LIMIT)}`]) {
        const { status } = await send('teams/', { headers, body });
        expect([headers, status]).toEqual([headers, 401]);
      }
    }
  });
});

describe('a caller without permission', () => {
  it.each(['nobody', 'teamMember'] as const)(
    'gets 403 for a change of an object, for any body: %s',
    async (name) => {
      const headers = await bearer(name);
      const path = `teams/${test.home.team.id}/`;
      const refused = { status: 403, body: FORBIDDEN };
      for (const method of ['PATCH', 'PUT']) {
        for (const body of [BAD_JSON, '[]', `{"name": "${'x'.repeat(2 * LIMIT)}"}`]) {
          expect(await send(path, { method, headers, body })).toEqual(refused);
        }
      }
    },
  );
});

describe('an authenticated caller', () => {
  it('gets 404 and 405 for the URL before 400 for the body', async () => {
    const headers = await bearer('superuser');
    const status = async (path: string, method: string): Promise<number> =>
      (await send(path, { method, headers, body: BAD_JSON })).status;
    expect(await status('teams/2147483647/', 'PATCH')).toBe(404);
    expect(await status('nothing/', 'POST')).toBe(404);
    expect(await status('ping/', 'DELETE')).toBe(405);
    expect(await status('teams/', 'POST')).toBe(400);
  });

  it('gets 413 for a body above the limit of the URL', async () => {
    const headers = await bearer('superuser');
    const body = `{"name": "${'x'.repeat(LIMIT)}"}`;
    expect((await send('teams/', { headers, body })).status).toBe(413);
    expect((await send('bulk/host_create/', { headers, body })).status).toBe(400);
  });

  it.each(['gzip', 'deflate', 'br', 'x-gzip', 'gzip, gzip', 'nonsense'])(
    'gets 415 for a body that is compressed by %s',
    async (encoding) => {
      const headers = { ...(await bearer('superuser')), 'Content-Encoding': encoding };
      const refused = { status: 415, body: COMPRESSED };
      expect(await send('teams/', { headers, body: BOMB })).toEqual(refused);
      const form = { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' };
      expect(await send('teams/', { headers: form, body: BOMB })).toEqual(refused);
      const lines = { ...headers, 'Content-Type': 'application/x-ndjson' };
      expect(await send('bulk/host_create/?inventory=1', { headers: lines, body: BOMB })).toEqual(
        refused,
      );
      const identity = { ...headers, 'Content-Encoding': 'identity' };
      expect((await send('teams/', { headers: identity, body: '{}' })).body).toHaveProperty('name');
    },
  );
});

describe('a form with a session', () => {
  const form = async (fields: string, session?: string): Promise<number> => {
    const sessions = test.app.get(SessionsService, { strict: false });
    const open = session ?? (await sessions.start(test.as.users.superuser.id));
    const csrf = csrfTokenOf(open);
    const { status } = await send('teams/', {
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Cookie: `${SESSION_COOKIE}=${open}; csrftoken=${csrf}`,
      },
      body: `${CSRF_FIELD}=${csrf}&${fields}`,
    });
    return status;
  };

  it('may be larger than one without a session, within the general limit', async () => {
    expect(await form(`description=${'x'.repeat(70_000)}`)).toBe(400);
    expect(await form(`description=${'x'.repeat(70_000)}`, 'acs_nobody')).toBe(401);
    expect(await form(`description=${'x'.repeat(2 * LIMIT)}`)).toBe(413);
    expect(await form('a=1&'.repeat(2000))).toBe(400);
  });

  it('needs no further statement if it is small', async () => {
    const cost = (size: number): Promise<number> =>
      countQueries(test.database, () => form(`description=${'x'.repeat(size)}`, 'acs_nobody'));
    expect(await cost(60_000)).toBe(await cost(1));
  });
});

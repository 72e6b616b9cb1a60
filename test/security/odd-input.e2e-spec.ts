/**
 * Every request, however malformed, gets a response of the contract and never a 5xx status.
 *
 * Budget: 25 s, because it sends odd values in every field of every resource.
 */
import fc from 'fast-check';

import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples, sampleTypes } from '../support/samples.js';

let test: TestApp;
let samples: Samples;
let routes: TableRoute[];
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  // Requests of a test must not take the names of samples that are created later.
  for (const type of sampleTypes()) await samples.of(type);
  routes = test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ pattern }) => pattern.startsWith('/api/v2'));
});
afterAll(() => test.close());

const ODD_TEXTS = [
  '',
  ' ',
  'null',
  'None',
  'true',
  '-1',
  '0',
  '1.5',
  '1e9',
  '2147483648',
  '99999999999999999999',
  'NaN',
  'Infinity',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'é',
  '💥',
  '%',
  '%00',
  '%zz',
  '\\',
  "'",
  '"',
  "' OR 1=1 --",
  '$1',
  '${x}',
  '{{ x }}',
  '../../etc/passwd',
  '//',
  '++',
  'a++b++c',
  '[1]',
  '{}',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(3000),
  '2024-02-30',
  '0000-00-00',
  '\r\nX: y',
];
const oddText = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);

const ODD_KEYS = [
  'id',
  'name',
  'organization',
  'organization__name',
  'created__gt',
  'created__in',
  'id__in',
  'name__regex',
  'name__iregex',
  'or__name',
  'not__id',
  'chain__name',
  'page',
  'page_size',
  'order_by',
  'search',
  'type',
  'role_level',
  'count_disabled',
  'limit',
  'format',
  'created_by__username',
  'id__int',
  'name__isnull',
  'organization__isnull',
  'organization__search',
  '__',
  'or__',
  'a[b]',
  'a[]',
  '__proto__',
  'constructor__name',
  'hasOwnProperty__x',
  'valueOf__x__y',
  'toString',
  'modified__contains',
  'status',
  'inventory__id',
];
const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...ODD_KEYS), oddText), oddText), {
  maxLength: 4,
});

const BODY_KEYS = [
  'id',
  'name',
  'description',
  'organization',
  'inventory',
  'project',
  'credential_type',
  'inputs',
  'variables',
  'extra_vars',
  'username',
  'password',
  'is_superuser',
  'disassociate',
  'kind',
  'jobs',
  'hosts',
  'notification_type',
  'notification_configuration',
  'messages',
  'scope',
  'created',
  '__proto__',
  'constructor',
  'BULK_HOST_MAX_CREATE',
  'user',
  'team',
  'webhook_service',
  'limit',
];
const body = fc.oneof(
  fc.dictionary(fc.constantFrom(...BODY_KEYS), fc.oneof(oddText, fc.jsonValue({ maxDepth: 4 })), {
    maxKeys: 5,
  }),
  fc.jsonValue(),
);

const isError = (answer: unknown): boolean => {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return false;
  const values = Object.values(answer);
  if ('detail' in answer && values.length === 1) return typeof values[0] === 'string';
  return values.length > 0 && values.every((value) => typeof value === 'object' && value !== null);
};

/** Returns a URL of the route, with samples or odd texts as its parameters. */
async function pathOf(route: TableRoute, odd: string | null): Promise<string> {
  if (odd === null) return samples.pathOf(route);
  return `${route.pattern.replaceAll(/:\w+/g, encode(odd))}/`;
}

/** Encodes a text. Lone surrogates have no UTF-8 and are replaced; all other text is unchanged. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

const SAFE_TO_REPEAT = (route: TableRoute): boolean =>
  route.method !== 'DELETE' && !route.pattern.includes('/settings');

it('unusual query strings and paths cause no server error', async () => {
  const gets = routes.filter(({ method }) => method === 'GET');
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.option(oddText),
      query,
      fc.constantFrom('superuser', 'orgMember', 'nobody'),
      async (index, odd, parameters, who) => {
        const route = gets[index % gets.length]!;
        const search = parameters
          .map(([key, value]) => `${encode(key)}=${encode(value)}`)
          .join('&');
        const path = `${await pathOf(route, odd)}?${search}`;
        const {
          status,
          body: answer,
          type,
        } = await test.as[who as 'nobody'].get(path).redirects(0);
        expect({ path, fault: status >= 500 }).toEqual({ path, fault: false });
        if (status >= 400 && type === 'application/json') {
          expect({ path, answer, error: isError(answer) }).toMatchObject({ error: true });
        }
      },
    ),
    { numRuns: 250 },
  );
}, 90_000);

it('unusual bodies cause no server error', async () => {
  const writes = routes.filter((route) => route.method !== 'GET' && SAFE_TO_REPEAT(route));
  await fc.assert(
    fc.asyncProperty(fc.nat(), body, async (index, sent) => {
      const route = writes[index % writes.length]!;
      const path = await samples.pathOf(route);
      const { status, body: answer } = await test.as.superuser
        .request(route.method, path, JSON.stringify(sent))
        .redirects(0);
      const context = { route: `${route.method} ${path}`, sent, status };
      expect({ ...context, fault: status >= 500 }).toEqual({ ...context, fault: false });
      if (status >= 400)
        expect({ ...context, answer, error: isError(answer) }).toMatchObject({ error: true });
    }),
    { numRuns: 250 },
  );
}, 90_000);

it('unusual values in every field of every resource cause no server error', async () => {
  const creates = routes.filter(
    ({ method, info }) => method === 'POST' && info?.kind === 'create' && !info.parent,
  );
  const values = [...ODD_TEXTS, null, [], {}, [1], { a: [{}] }, true, 1.5, -1, 2 ** 31, 1e300];
  for (const route of creates) {
    const fields = (route.info!.body ?? []).filter(
      ({ readOnly, internal }) => !readOnly && !internal,
    );
    for (const value of values) {
      const sent = Object.fromEntries(fields.map(({ name }) => [name, value]));
      const { status, body: answer } = await test.as.superuser.post(
        `${route.pattern}/`,
        JSON.stringify(sent),
      );
      const context = { route: route.pattern, value, status };
      expect({ ...context, fault: status >= 500 }).toEqual({ ...context, fault: false });
      if (status >= 400)
        expect({ ...context, answer, error: isError(answer) }).toMatchObject({ error: true });
    }
  }
}, 60_000);

it('an unusual value in each field of a valid body causes no server error', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.nat(),
      fc.oneof(oddText, fc.jsonValue()),
      async (which, index, value) => {
        const creates = routes.filter(
          ({ method, info }) => method === 'POST' && info?.kind === 'create',
        );
        const route = creates[which % creates.length]!;
        const fields = route.info!.body ?? [];
        const field = fields[index % fields.length];
        const sent = {
          ...(await bodyOf(samples, route)),
          ...(field ? { [field.name]: value } : {}),
        };
        const path = await samples.pathOf(route);
        const { status } = await test.as.superuser.post(path, JSON.stringify(sent));
        const context = { path, sent, status };
        expect({ ...context, fault: status >= 500 }).toEqual({ ...context, fault: false });
      },
    ),
    { numRuns: 200 },
  );
}, 60_000);

it.each([
  ['/api/v2/teams/%zz/'],
  ['/api/v2/teams/%/'],
  ['/api/v2/teams/%c0%80/'],
  ['/api/v2//teams/'],
  ['/api/v2/teams/1/../../users/'],
  ['/api/v2/teams/?page=%zz'],
  ['/api/v2/teams/?%'],
  ['/api/%zz'],
  ['/%zz'],
  [`/api/v2/teams/?${'a=1&'.repeat(2000)}`],
])('the URL %s causes no server error', async (path) => {
  const { status, body: answer } = await test.as.superuser.get(path.slice(0, 8000)).redirects(0);
  expect(status).toBeLessThan(500);
  if (status >= 400) expect(isError(answer)).toBe(true);
});

it('unusual headers cause no server error', async () => {
  const { orgMember } = test.as;
  for (const [name, value] of [
    ['Accept', '\u00ff'],
    ['Accept', ',;q=x'],
    ['Accept', 'text/html;q=abc, application/json;q=-1'],
    ['Content-Type', 'application/json; charset=utf-99'],
    ['Content-Encoding', 'nonsense'],
    ['Cookie', 'controller_session=\u00ff; csrftoken'],
    ['X-Request-Id', 'x'.repeat(5000)],
    ['Origin', 'null'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Idempotency-Key', 'x'.repeat(5000)],
    ['If-Match', '*'],
    ['Range', 'bytes=0-1'],
  ]) {
    for (const method of ['get', 'post']) {
      const pending = orgMember.request(method, 'teams/', method === 'post' ? '{}' : undefined);
      const { status } = await pending.set(name!, value!);
      expect({ name, value, fault: status >= 500 }).toEqual({ name, value, fault: false });
    }
  }
});

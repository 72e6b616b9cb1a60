/**
 * Property: the OpenAPI document describes every response (status, type and each member of the body) to any
 * request to one of its operations by any caller. Never 5xx.
 *
 * Operations, parameters and bodies come from the document. Each value either fits its schema or is hostile.
 * Callers are a superuser and an ordinary member. FUZZ_REQUESTS sets the number of requests (700; 20,000 is a
 * good long run), `--seed` repeats a run.
 *
 * Every operation is reached, but not all of its code: receivers behind a valid signature, logins behind a
 * valid CSRF token, bodies other than JSON, and states that only a worker brings about are not.
 *
 * Budget: 20 s, because it sends 700 generated requests.
 */
import fc from 'fast-check';

import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { ResponseCheck } from '../support/response-check.js';
import { boot, type TestApp } from '../support/boot.js';
import {
  operationsOf,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
} from '../support/openapi.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples } from '../support/samples.js';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 700);
/** True for a manual run, which prints each fault when it occurs, and figures at the end. */
const IS_LONG = process.env.FUZZ_REQUESTS !== undefined;
const SEED = jest.getSeed();
/**
 * Number of faults after which a long run stops. Below it, the run continues and reports all faults at the
 * end.
 */
const MAX_FAULTS = 40;
/** Time after which an operation without a response counts as a fault. */
const TIMEOUT_MS = 20_000;

let test: TestApp;
let samples: Samples;
let operations: Operation[];
let answers: ResponseCheck;
let routes: Map<string, TableRoute>;

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  const { body } = await test.as.anonymous.get('/api/openapi.json').expect(200);
  operations = operationsOf(body as OpenApiDocument);
  answers = new ResponseCheck(body as OpenApiDocument);
  routes = new Map(
    test.app
      .get(RouteTable, { strict: false })
      .routes.map((route) => [route.info?.operationId ?? '', route]),
  );
}, 180_000);
afterAll(() => test.close());

/** Hostile texts. Ids among them belong to no object: a hostile id must not happen to be that of a caller. */
const HOSTILE_TEXTS = [
  ...['', ' ', '0', '-1', '1.5', '1e9', '2147483647', '2147483648', '99999999999999999999'],
  ...[
    'NaN',
    'null',
    'true',
    'last',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\u202e',
    '💥',
    '%',
    '%zz',
    '%00',
  ],
  ...[
    "' OR 1=1 --",
    '$1',
    '{{ 1 }}',
    '../../etc/passwd',
    '++',
    'a++b',
    '\\',
    '__proto__',
    '\r\nX: y',
  ],
  ...['2024-02-30', '<script>', 'x'.repeat(3000), '[]', '{}', '(', '(a+)+$', '-----BEGIN'],
];
const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const hostileValue = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 2 ** 31, 2 ** 53, -1e300, [], {}, [[]], [null]),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Filters are named by fields and lookups, which the document cannot list. */
const filter = fc
  .tuple(
    fc.constantFrom(
      ...['id', 'name', 'created', 'modified', 'organization', 'status', 'created_by__username'],
      ...[
        'or__name',
        'not__id',
        'chain__name',
        'organization__name',
        'bogus',
        'type',
        'role_level',
      ],
    ),
    fc.constantFrom('', '__in', '__gt', '__contains', '__iregex', '__isnull', '__search', '__x'),
  )
  .map(([name, lookup]) => name + lookup);

/** Returns null most of the time: a request with one hostile part gets further than one with many. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

/** Parts of one request. The operation decides how they are used. */
const attempt = fc.record({
  isSuperuser: fc.boolean(),
  path: seldom(hostileText),
  query: fc.array(fc.tuple(fc.nat(), filter, seldom(hostileText), fc.nat({ max: 40 })), {
    maxLength: 3,
  }),
  isSampleBody: fc.boolean(),
  body: fc.array(fc.tuple(fc.nat(), seldom(hostileValue), fc.nat({ max: 40 })), {
    maxLength: 6,
  }),
  wholeBody: seldom(hostileValue),
});
type Attempt = typeof attempt extends fc.Arbitrary<infer T> ? T : never;

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Returns a value that fits the schema. */
function fitting(schema: JsonSchema | undefined, seed: number): unknown {
  if (schema?.enum) return schema.enum[seed % schema.enum.length];
  const [type] = [schema?.type].flat();
  switch (type) {
    case 'integer':
      return seed;
    case 'number':
      return seed / 2;
    case 'boolean':
      return seed % 2 === 0;
    case 'array':
      return seed % 3 === 0 ? [] : [fitting(schema?.items as JsonSchema | undefined, seed)];
    case 'object':
      return seed % 3 === 0 ? {} : { name: `value ${seed}` };
    default:
      return schema?.format === 'date-time' ? '2026-01-31T00:00:00Z' : `value ${seed}`;
  }
}

function queryOf({ parameters }: Operation, parts: Attempt['query']): string {
  const named = parameters.filter((parameter) => parameter.in === 'query');
  const pairs = parts.map(([index, free, hostile, seed]) => {
    const parameter = named[index % (named.length + 1)];
    const value = hostile ?? String(fitting(parameter?.schema, seed));
    return `${parameter?.name ?? free}=${encode(value)}`;
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

async function sentBody(
  { requestBody }: Operation,
  route: TableRoute,
  { body, wholeBody, isSampleBody }: Attempt,
): Promise<string | undefined> {
  if (['GET', 'DELETE'].includes(route.method)) return undefined;
  if (wholeBody !== null) return JSON.stringify(wholeBody);
  const [content] = Object.values(requestBody?.content ?? {});
  const properties = Object.entries(content?.schema?.properties ?? {});
  const own = body.flatMap(([index, hostile, seed]) => {
    const [name, schema] = properties[index % (properties.length || 1)] ?? ['name', undefined];
    // Only samples may be detached or changed by their id: the callers must keep their roles.
    if (name === 'id' && hostile === null) return [];
    return [[name, hostile ?? fitting(schema, seed)] as const];
  });
  const sample = isSampleBody ? await bodyOf(samples, route) : {};
  return JSON.stringify({ ...sample, ...Object.fromEntries(own) });
}

async function pathOf(route: TableRoute, hostile: string | null): Promise<string> {
  if (hostile === null || !route.pattern.includes(':')) return samples.pathOf(route);
  return `${route.pattern.replaceAll(/:\w+/g, () => encode(hostile) || '%20')}/`;
}

/** Creates a new organization with samples, after requests have deleted or spoilt the former ones. */
async function createHome(): Promise<void> {
  const { home, make, as } = test;
  samples.reset();
  home.organization = await make.organization();
  home.team = await make.team({ organization: home.organization.id });
  await make.grant('organization', home.organization, 'member_role', { user: as.users.orgMember });
}

/**
 * Calls `work` with the samples. If they can no longer be created, for example at a limit on hosts, creates
 * others and calls it again.
 */
async function withSamples<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    await createHome();
    return work();
  }
}

const reached = new Set<string>();
/** Number of responses by status, for the report of a long run. */
const statuses = new Map<number, number>();

const faults = new Map<string, object>();

/**
 * Step between two operations. It is a prime, coprime to the number of operations, so that neighbors in the
 * document do not follow each other.
 */
const STRIDE = 7919;
let turn = Math.abs(SEED);

/** Returns the operations in rotation, so that even a small number of requests leaves none out. */
function nextOperation(): Operation {
  turn += STRIDE;
  return operations[turn % operations.length]!;
}

async function send(given: Attempt): Promise<void> {
  const operation = nextOperation();
  const route = routes.get(operation.operationId)!;
  const path =
    (await withSamples(() => pathOf(route, given.path))) + queryOf(operation, given.query);
  const body = await withSamples(() => sentBody(operation, route, given));
  const client = given.isSuperuser ? test.as.superuser : test.as.orgMember;
  const { status, headers, text } = await client
    .request(route.method, path, body)
    .redirects(0)
    .timeout(TIMEOUT_MS);
  reached.add(operation.operationId);
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (route.method === 'DELETE' && status < 300) await createHome();
  const answer = { status, type: headers['content-type'] ?? '', text: text ?? '' };
  const fault = status >= 500 ? 'a fault of ours' : answers.faultOf(operation, answer);
  if (fault && faults.size < MAX_FAULTS) {
    // Each kind of fault is reported once per operation.
    const kind = `${operation.operationId} ${status} ${fault}`;
    if (!faults.has(kind) && IS_LONG) process.stderr.write(`${kind} at ${route.method} ${path}\n`);
    faults.set(kind, { request: `${route.method} ${path}`, body, text: answer.text.slice(0, 400) });
  }
}

it(
  `${REQUESTS} random requests get responses that match the document`,
  async () => {
    await fc.assert(fc.asyncProperty(attempt, send), {
      numRuns: REQUESTS,
      endOnFailure: true,
      seed: SEED,
    });
    if (IS_LONG) {
      const figures = { requests: REQUESTS, operations: reached.size, faults: faults.size };
      const byStatus = [...statuses].sort(([a], [b]) => a - b);
      process.stdout.write(`${JSON.stringify({ ...figures, seed: SEED, byStatus })}\n`);
    }
    expect({ seed: SEED, faults: [...faults] }).toEqual({ seed: SEED, faults: [] });
    // A caller whose account was deleted during the run would have been refused ever since.
    await test.as.superuser.get('me/').expect(200);
    await test.as.orgMember.get('me/').expect(200);
    expect(reached.size).toBe(Math.min(REQUESTS, operations.length));
    const good = [...statuses].filter(([status]) => status < 300);
    expect(good.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(REQUESTS / 10);
  },
  60_000 + REQUESTS * 400,
);

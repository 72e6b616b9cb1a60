/**
 * OPTIONS describes exactly the keys that a GET returns, at every URL of the route table, with samples of
 * every kind in every list.
 */
import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import type { JsonSchema } from '../../src/common/fields/json-schema.js';
import { boot, type TestApp } from '../support/boot.js';
import { Samples, sampleTypes } from '../support/samples.js';

/** Timeout for hundreds of sequential requests. */
const TIMEOUT_MS = 240_000;

let test: TestApp;
let samples: Samples;
let routes: readonly TableRoute[];

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  for (const type of sampleTypes()) await samples.of(type);
  await samples.linkAll();
  routes = test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ method, pattern, info }) => {
      return method === 'GET' && pattern.startsWith('/api/') && info?.access !== 'signature';
    });
}, TIMEOUT_MS);
afterAll(() => test.close());

type Shown = Record<string, unknown>;

/** Returns the keys that the declaration permits a response to omit. */
function optionalKeys({ info }: TableRoute): Set<string> {
  const { resource, response } = info!;
  if (resource) {
    const kinds = resource.variants?.() ?? [resource];
    return new Set(kinds.flatMap(({ shows }) => shows.optional ?? []));
  }
  const required = (response?.required ?? []) as string[];
  return new Set(
    Object.keys((response?.properties ?? {}) as object).filter((name) => !required.includes(name)),
  );
}

/** Returns true if users or the inventory determine the members, so that OPTIONS cannot list them. */
const isOpen = ({ info }: TableRoute): boolean =>
  info!.fieldsAt === undefined && info!.response?.additionalProperties !== undefined;

const isJson = ({ info }: TableRoute): boolean => info!.produces === undefined;

async function rowsOf(path: string): Promise<Shown[]> {
  const { body } = await test.as.superuser.get(path).set('Accept', 'application/json').expect(200);
  if (Array.isArray(body)) return body as Shown[];
  const { results } = body as { results?: Shown[] };
  return results ?? [body as Shown];
}

async function keysDescribed(path: string): Promise<string[]> {
  const { body } = await test.as.superuser.options(path).expect(200);
  return Object.keys((body as { actions: { GET?: JsonSchema } }).actions.GET ?? {});
}

interface Held {
  route: TableRoute;
  path: string;
  rows: readonly Shown[];
  described: readonly string[];
}

async function held(): Promise<Held[]> {
  const all: Held[] = [];
  for (const route of routes.filter((one) => isJson(one) && !isOpen(one))) {
    if (route.info!.resource?.stored === false) continue;
    const path = await samples.pathOf(route);
    all.push({ route, path, rows: await rowsOf(path), described: await keysDescribed(path) });
  }
  return all;
}

/** Returns the differences between the keys of a URL with rows and their description. */
function faultsOf({ route, path, rows, described }: Held): string[] {
  const shown = new Set(rows.flatMap((row) => Object.keys(row)));
  const missing = [...shown].filter((key) => !described.includes(key));
  const optional = optionalKeys(route);
  const invented = described.filter((key) => !shown.has(key) && !optional.has(key));
  return [
    ...missing.map((key) => `${path} shows ${key}, which OPTIONS does not describe`),
    ...invented.map((key) => `${path} does not show ${key}, which OPTIONS describes`),
  ];
}

it(
  'OPTIONS describes all keys of the response, and no others',
  async () => {
    const all = await held();
    const furnished = all.filter(({ rows }) => rows.length > 0);
    expect(furnished.flatMap(faultsOf)).toEqual([]);
    // A list without samples has the same description as other lists of its kind.
    const isList = ({ route }: Held): boolean => route.info!.kind === 'list';
    const described = new Map(
      furnished.filter(isList).map((one) => [one.route.info!.resource!.type, one.described]),
    );
    for (const one of all.filter(({ rows }) => rows.length === 0).filter(isList)) {
      const type = one.route.info!.resource!.type;
      expect({ path: one.path, keys: one.described }).toEqual({
        path: one.path,
        keys: described.get(type),
      });
    }
  },
  TIMEOUT_MS,
);

it('OPTIONS describes the name and description of a role', async () => {
  const { body } = await test.as.superuser.options('roles/').expect(200);
  expect(Object.keys(body.actions.GET).sort()).toEqual(
    ['id', 'type', 'url', 'related', 'summary_fields', 'name', 'description'].sort(),
  );
});

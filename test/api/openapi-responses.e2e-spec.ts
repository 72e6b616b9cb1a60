/**
 * Every response matches the OpenAPI document member by member: of all routes that read, with samples of
 * every kind, and of all that create. The fuzz test covers hostile requests.
 */
import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { ResponseCheck } from '../support/response-check.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { operationsOf, type OpenApiDocument, type Operation } from '../support/openapi.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples, sampleTypes } from '../support/samples.js';

/** Timeout for hundreds of sequential requests. */
const TIMEOUT_MS = 240_000;

let test: TestApp;
let samples: Samples;
let check: ResponseCheck;
let operations: Map<string, Operation>;
let routes: readonly TableRoute[];

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  for (const type of sampleTypes()) await samples.of(type);
  await samples.linkAll();
  const document = (await test.as.anonymous.get('/api/openapi.json')).body as OpenApiDocument;
  check = new ResponseCheck(document);
  operations = new Map(operationsOf(document).map((one) => [one.operationId, one]));
  routes = test.app.get(RouteTable, { strict: false }).routes.filter(({ info }) => info);
}, 120_000);
afterAll(() => test.close());

/** Returns the difference between a route's response and the document, or null. */
async function faultOf(client: ApiClient, route: TableRoute, query = ''): Promise<string | null> {
  const path = (await samples.pathOf(route)) + query;
  const body = await bodyOf(samples, route);
  const { status, headers, text } = await client.request(route.method, path, body).redirects(0);
  const answer = { status, type: headers['content-type'] ?? '', text: text ?? '' };
  const fault = check.faultOf(operations.get(route.info!.operationId)!, answer);
  return fault && `${route.method} ${path} ${status}: ${fault}`;
}

async function faultsOf(
  client: ApiClient,
  wanted: (route: TableRoute) => boolean,
  query = '',
): Promise<string[]> {
  const faults: string[] = [];
  for (const route of routes.filter(wanted)) {
    const fault = await faultOf(client, route, query);
    if (fault) faults.push(fault);
  }
  return faults;
}

/** Selects routes that read. Streams among them end, because the sample runs have ended. */
const reads = ({ method }: TableRoute): boolean => method === 'GET';
const lists = (route: TableRoute): boolean => reads(route) && route.info!.kind === 'list';

it.each(['superuser', 'orgMember', 'auditor', 'anonymous'] as const)(
  'GET responses match the document for %s',
  async (name) => {
    expect(await faultsOf(test.as[name], reads)).toEqual([]);
  },
  TIMEOUT_MS,
);

it(
  'lists without a count, with a cursor and in small pages match the document',
  async () => {
    expect(await faultsOf(test.as.superuser, lists, '?count_disabled=1&page_size=1')).toEqual([]);
  },
  TIMEOUT_MS,
);

it(
  'responses to creations, changes and actions match the document',
  async () => {
    const writes = ({ method, info }: TableRoute): boolean =>
      ['POST', 'PUT', 'PATCH'].includes(method) && info!.access === 'authenticated';
    expect(await faultsOf(test.as.superuser, writes)).toEqual([]);
  },
  TIMEOUT_MS,
);

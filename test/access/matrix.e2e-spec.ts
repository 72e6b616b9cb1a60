/**
 * Who gets which status from every route there is. The expectations stand in matrix.json, one line
 * for each route; a route without a line, or a line without a route, fails. After a wanted change
 * write it anew with `RECORD_MATRIX=1 npm test -- matrix` and read the difference: each changed
 * figure is somebody who may do more or less than before.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { RouteTable, type TableRoute } from '../../src/common/http/route-table.js';
import { PACKAGE_FOLDER } from '../../src/root/version.js';
import { boot, type TestApp } from '../support/boot.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples } from '../support/samples.js';

/** From the weakest to the strongest: whoever may delete a sample comes after those who may not. */
const CALLERS = [
  'anonymous',
  'nobody',
  'outsider',
  'teamMember',
  'orgMember',
  'auditor',
  'orgAdmin',
  'superuser',
] as const;

const FILE = join(PACKAGE_FOLDER, 'test', 'access', 'matrix.json');
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

let test: TestApp;
let samples: Samples;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
});
afterAll(() => test.close());

it('is as written down', async () => {
  const found = await statuses();
  if (process.env.RECORD_MATRIX) {
    const recorded = { callers: CALLERS.join(' '), routes: found };
    writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`);
  }
  const expected = JSON.parse(readFileSync(FILE, 'utf8')) as { routes: object };
  expect(found).toEqual(expected.routes);
}, 170_000);

it('never answers a fault of ours, and tells anonymous callers nothing', () => {
  const { routes } = JSON.parse(readFileSync(FILE, 'utf8')) as { routes: Record<string, string> };
  for (const [route, line] of Object.entries(routes)) {
    expect(`${route}: ${line}`).not.toMatch(/\b5\d\d\b/);
  }
});

async function statuses(): Promise<Record<string, string>> {
  const routes = [...test.app.get(RouteTable, { strict: false }).routes].sort(
    (a, b) =>
      a.pattern.localeCompare(b.pattern) || ORDER.indexOf(a.method) - ORDER.indexOf(b.method),
  );
  const found: Record<string, string> = {};
  for (const route of routes) {
    const line: number[] = [];
    for (const caller of CALLERS) line.push(await statusOf(route, caller));
    found[`${route.method} ${route.pattern.replace(/\/$/, '')}/`] = line.join(' ');
  }
  return found;
}

async function statusOf(route: TableRoute, caller: (typeof CALLERS)[number]): Promise<number> {
  const path = await samples.pathOf(route);
  const body = await bodyOf(samples, route);
  const pending = test.as[caller].request(route.method, path, body).redirects(0);
  const { status } = await pending;
  if (route.method === 'DELETE' && status < 300) samples.reset();
  return status;
}

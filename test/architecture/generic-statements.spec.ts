/**
 * PostgreSQL accepts every statement that is composed from declarations: the list of each resource by every
 * field, lookup, relation and order; its rows, by every permission; their representation; and every list
 * below an object. The statements are prepared against the migrated schema.
 *
 * Budget: 25 s, because PostgreSQL prepares every statement of every list.
 */
import type { Actor } from '../../src/common/access.js';
import { Forbidden, Invalid, NotFound } from '../../src/common/errors/errors.js';
import { BrokenInvariant } from '../../src/common/invariants.js';
import { cursorAfter } from '../../src/common/list/cursor.js';
import { ListService } from '../../src/common/list/list.service.js';
import { orderTerms } from '../../src/common/list/order.js';
import type { QueryParameters } from '../../src/common/list/query.js';
import { ReferenceLists } from '../../src/common/rest/reference-lists.service.js';
import {
  resource,
  resources,
  type ResourceDefinition,
  type Row,
} from '../../src/common/resource/define-resource.js';
import { idByName, namedUrlFormat } from '../../src/common/resource/natural-key.js';
import { RepresentContexts } from '../../src/common/resource/represent-contexts.service.js';
import { represent } from '../../src/common/resource/representation.js';
import { columnsOf } from '../../src/common/rest/changes.js';
import { ReferencesService } from '../../src/common/rest/references.service.js';
import { ResourceService } from '../../src/common/rest/resource.service.js';
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { MissingRow } from '../../src/database/database.js';
import { insertRow, updateRow } from '../../src/database/rows.js';
import { boot, type TestApp } from '../support/boot.js';
import { PreparingPool } from '../support/preparing-pool.js';
import { Samples, sampleTypes } from '../support/samples.js';
import {
  chunksOf,
  misjudged,
  openFields,
  orders,
  ownFilters,
  relatedFilters,
  valueOf,
  waysFrom,
} from './declared-queries.js';
import { callHandler } from './handlers.js';
import { CALLER } from './samples/actors.js';

/** Number of parameters in one request. A list accepts 100 at most. */
const AT_ONCE = 90;
/** Number of fields in one order. The condition of a position in it grows with their square. */
const ORDERS_AT_ONCE = 4;

/** Callers whose permissions differ in the statements. */
const ACTORS: readonly Actor[] = [
  CALLER,
  { ...CALLER, isConfined: true },
  { ...CALLER, isSystemAuditor: true },
  { ...CALLER, isSuperuser: true },
];

const stored = (): ResourceDefinition[] => resources().filter((one) => one.stored);

let test: TestApp;
let pool: PreparingPool;
let release: () => void;
/** Rows by resource type, with a value in every column that refers to another row. */
const rows = new Map<string, Row>();

const get = <T>(token: abstract new (...args: never[]) => T): T =>
  test.app.get<T>(token, { strict: false });
const rowOf = (definition: ResourceDefinition): Row => rows.get(definition.type) ?? { id: 1 };

beforeAll(async () => {
  test = await boot();
  const samples = new Samples(test);
  const superuser = ACTORS.at(-1) ?? CALLER;
  for (const type of sampleTypes()) {
    const definition = resource(type);
    if (!definition.stored) continue;
    const { id } = await samples.of(type);
    const row = await get(ResourceService).lock(definition, { id }, superuser);
    const references = definition.fields.flatMap(({ target, column }) =>
      target && column !== null && row[column] === null ? [[column, 1] as const] : [],
    );
    rows.set(type, { ...row, ...Object.fromEntries(references) });
  }
  ({ pool, release } = await PreparingPool.of(test.database));
});

afterAll(async () => {
  release();
  await test.close();
});

/** Returns the error of `work`, and a fault if it sends no statement. */
async function faultsOf(name: string, work: () => unknown): Promise<string[]> {
  const before = pool.statements.length;
  try {
    await work();
  } catch (error) {
    // No statement returns a row, so permission checks may fail.
    const isRight = [NotFound, Forbidden, Invalid, BrokenInvariant, MissingRow];
    if (!isRight.some((known) => error instanceof known)) return [`${name}: ${String(error)}`];
  }
  return pool.statements.length > before ? [] : [`${name} sends no statement`];
}

const list = (definition: ResourceDefinition, query: QueryParameters, actor = CALLER) =>
  get(ListService).list(definition, { count_disabled: '1', ...query }, actor);

/**
 * Returns the faults of filters. Sends many parameters together, and one by one if that fails, to find the
 * wrong one.
 */
async function faultsOfFilters(
  definition: ResourceDefinition,
  parameters: readonly (readonly [string, string])[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const some of chunksOf(parameters, AT_ONCE)) {
    const ask = (given: typeof some) =>
      faultsOf(`${definition.path}/?${given.map((one) => one.join('=')).join('&')}`, () =>
        list(definition, Object.fromEntries(given)),
      );
    if ((await ask(some)).length === 0) continue;
    for (const one of some) faults.push(...(await ask([one])));
  }
  return faults;
}

async function faultsOfAll(
  work: (definition: ResourceDefinition) => Promise<string[]>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const definition of stored()) faults.push(...(await work(definition)));
  return faults;
}

describe('lists', () => {
  it('are filtered by exactly the declared fields', () => {
    expect(stored().flatMap((one) => misjudged(one).map((key) => `${one.type}: ${key}`))).toEqual(
      [],
    );
  });

  it('are filtered by every field and lookup', async () => {
    expect(await faultsOfAll((one) => faultsOfFilters(one, ownFilters(one)))).toEqual([]);
  });

  it('are filtered by every relation of their objects', async () => {
    expect(await faultsOfAll((one) => faultsOfFilters(one, relatedFilters(one)))).toEqual([]);
  });

  it('are filtered in groups, by negation, words, types and roles', async () => {
    const faults = await faultsOfAll(async (one) => {
      const [way] = waysFrom(one);
      const kinds = one.variants?.().map(({ type }) => type) ?? [one.type];
      return faultsOfFilters(one, [
        ['search', 'some words'],
        ['type', kinds.join(',')],
        ['not__id', '1'],
        ['or__id', '1'],
        ['or__not__id__in', '1,2'],
        ...(way ? ([[`chain__${way[0]}__id`, '1']] as const) : []),
        ...one.roles.slice(0, 1).map(({ field }) => ['role_level', field] as const),
      ]);
    });
    expect(faults).toEqual([]);
  });

  it('are read in every order, and from any position', async () => {
    const faults = await faultsOfAll(async (one) => {
      const found: string[] = [];
      for (const names of chunksOf(orders(one), ORDERS_AT_ONCE)) {
        for (const asked of [names, names.map((name) => `-${name}`)]) {
          found.push(...(await faultsOf(`${one.path} by ${asked.join()}`, () => walk(one, asked))));
        }
      }
      return found;
    });
    expect(faults).toEqual([]);
  });

  it('are read with totals, on distant pages, and by every kind of caller', async () => {
    const faults = await faultsOfAll(async (one) => {
      const found: string[] = [];
      for (const actor of ACTORS) {
        const ask = (query: QueryParameters) =>
          faultsOf(`${one.path} for ${JSON.stringify(actor)}`, () => list(one, query, actor));
        found.push(...(await ask({ count_disabled: '0' })), ...(await ask({ page: '1000' })));
      }
      return found;
    });
    expect(faults).toEqual([]);
  });
});

/** Reads the first page in an order, and the page after a row. */
async function walk(definition: ResourceDefinition, names: readonly string[]): Promise<void> {
  const order_by = names.join();
  await list(definition, { order_by });
  const terms = orderTerms(definition, 't', names, CALLER);
  const place = terms.map(({ column, kind }) => [column, valueOf({ kind, choices: [] })]);
  const after = cursorAfter({ id: 1, ...Object.fromEntries(place) }, terms, 2);
  if (after !== null) await list(definition, { order_by, page: '2', after });
}

describe('rows', () => {
  it('are read and locked under every rule of their policy', async () => {
    const faults = await faultsOfAll(async (one) => {
      const service = get(ResourceService);
      const actions = ['read', 'change', 'delete', ...Object.keys(one.policy.actions ?? {})];
      const found: string[] = [];
      for (const action of actions) {
        found.push(
          ...(await faultsOf(`${action} ${one.type}`, () =>
            service.load(one, 1, CALLER, { action }),
          )),
        );
      }
      return [
        ...found,
        ...(await faultsOf(`lock ${one.type}`, () => service.lock(one, { id: 1 }, CALLER))),
      ];
    });
    expect(faults).toEqual([]);
  });

  it('are written with all their columns', async () => {
    const faults = await faultsOfAll((one) => {
      const values = Object.fromEntries(one.fields.map((field) => [field.name, valueOf(field)]));
      const columns = columnsOf(one, values);
      return faultsOf(`write ${one.type}`, async () => {
        await test.database.row(insertRow(one.table, columns));
        await test.database.row(updateRow(one.table, 1, columns));
      });
    });
    expect(faults).toEqual([]);
  });

  it('are created with the permissions and references of the caller', async () => {
    const [service, references] = [get(ResourceService), get(ReferencesService)];
    const faults = await faultsOfAll(async (one) => {
      const values = Object.fromEntries(one.fields.map((field) => [field.name, valueOf(field)]));
      const checks = {
        mayAdd: () => service.mayAdd(one, CALLER),
        assertMayAdd: () => service.assertMayAdd(one, values, CALLER),
        assertExist: () => references.assertExist(one, values),
        assertUsable: () => references.assertUsable(one, values, CALLER),
        choices: () => get(ReferenceLists).load(one, 'read', [1], CALLER),
      };
      const found: string[] = [];
      for (const [name, check] of Object.entries(checks)) {
        found.push(...(await faultsOf(`${name} of ${one.type}`, check)));
      }
      // Some permissions need no statement.
      return found.filter((fault) => !fault.endsWith('sends no statement'));
    });
    expect(faults).toEqual([]);
  });

  it('are shown with all related objects', async () => {
    const faults = await faultsOfAll(async (one) => {
      const found: string[] = [];
      for (const detail of [true, false]) {
        const context = get(RepresentContexts).of(CALLER, detail);
        found.push(
          ...(await faultsOf(`show ${one.type}`, () => represent(one, [rowOf(one)], context))),
        );
      }
      return openFields(one).some(({ target }) => target) || one.roles.length > 0
        ? found
        : found.filter((fault) => !fault.endsWith('sends no statement'));
    });
    expect(faults).toEqual([]);
  });

  it('are found by their names', async () => {
    const faults = await faultsOfAll(async (one) => {
      const format = namedUrlFormat(one);
      if (format === null) return [];
      const key = format.replace(/<[^>]+>/g, 'x');
      const context = { database: test.database, actor: CALLER };
      return [
        ...(await faultsOf(`${one.path}/${key}/`, () => idByName(one, key, context))),
        ...(await faultsOf(`${one.path}/x++/`, () =>
          idByName(one, key.replace(/\+\+.*/, '++'), context),
        )),
      ];
    });
    expect(faults).toEqual([]);
  });
});

it('PostgreSQL accepts the statements of lists below objects', async () => {
  const routes = get(RouteTable).routes.filter(({ info }) => info?.kind === 'list');
  const faults: string[] = [];
  for (const route of routes) {
    const { parent, resource: shown, events } = route.info ?? {};
    if (shown?.stored === false || parent?.stored === false) continue;
    const target = parent ? rowOf(parent) : undefined;
    const further = shown ? Object.fromEntries(ownFilters(shown).slice(0, AT_ONCE)) : {};
    for (const query of [
      {},
      { search: 'x', page: '1000' },
      { ...further, ...(events && { limit: '5' }) },
    ]) {
      const request = { target, query, actor: CALLER, params: {} };
      faults.push(...(await faultsOf(route.pattern, () => callHandler(test.app, route, request))));
    }
  }
  expect(routes.length).toBeGreaterThan(100);
  expect(faults).toEqual([]);
});

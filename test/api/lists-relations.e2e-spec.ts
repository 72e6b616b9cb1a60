/**
 * Filters work through every relation that existing clients of this API follow. `lists-relations.json` lists
 * the relations of each list, and their place in the database: `column`, `table.column` that refers to the
 * list, `table.source_column.target_column` with a constant column behind `?`, `=` for the same row under
 * another type, `none` for a relation that is always null and `@column=constant` for related rows that every
 * row of the list has.
 *
 * Budget: 40 s, because two callers filter every list by every relation.
 */
import { readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { permit, type Actor } from '../../src/common/access.js';
import {
  resources,
  type ResourceDefinition,
  type Row,
} from '../../src/common/resource/define-resource.js';
import { follow } from '../../src/common/resource/followed-relations.js';
import { resolveName } from '../../src/common/list/filter-compiler.js';
import { and, FALSE, ident, join, or, sql, TRUE, type Sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { Samples, sampleTypes } from '../support/samples.js';

const LISTS = JSON.parse(
  readFileSync(joinPath(PACKAGE_FOLDER, 'test', 'api', 'lists-relations.json'), 'utf8'),
) as Readonly<Record<string, Readonly<Record<string, string>>>>;

const PATHS = Object.keys(LISTS);

interface Caller {
  client: ApiClient;
  actor: Actor;
}

let test: TestApp;
let superuser: Caller;
/** Users with one role each. */
let holders: Caller[];

const definitionOf = (path: string): ResourceDefinition =>
  resources().find((definition) => definition.path === path)!;

const callerOf = (client: ApiClient, user: Row): Caller => ({
  client,
  actor: {
    id: user.id,
    username: String(user.username),
    isSuperuser: user.is_superuser === true,
    isSystemAuditor: false,
  },
});

beforeAll(async () => {
  test = await boot();
  const { as, make, home } = test;
  const samples = new Samples(test);
  // Creates unrelated rows next to those that refer to each other.
  const others = new Map<string, Row>();
  for (const path of PATHS) others.set(path, await samples.of(definitionOf(path).type));
  samples.reset();
  for (const type of sampleTypes()) await samples.of(type);
  await samples.linkAll();
  await tie(samples, others);
  superuser = callerOf(as.superuser, as.users.superuser);
  const roles = [
    ['job_template', 'execute_role'],
    ['workflow_job_template', 'read_role'],
    ['project', 'use_role'],
    ['inventory', 'use_role'],
    ['credential', 'use_role'],
    ['organization', 'notification_admin_role'],
    ['organization', 'member_role'],
    ['instance_group', 'use_role'],
    ['team', 'read_role'],
  ] as const;
  holders = [];
  for (const [type, role] of roles) {
    const user = await make.user();
    const object = type === 'organization' ? home.organization : await samples.of(type);
    await make.grant(type, object, role, { user });
    holders.push(callerOf(await as.asUser(user), user));
  }
}, 60_000);
afterAll(() => test.close());

/** Fills the empty references of the samples, and the links between rows of one type. */
async function tie(samples: Samples, others: ReadonlyMap<string, Row>): Promise<void> {
  for (const [path, relations] of Object.entries(LISTS)) {
    const near = definitionOf(path);
    if (near.variants || !near.stored) continue;
    const from = await samples.of(near.type);
    for (const [name, place] of Object.entries(relations)) {
      const far = targetOf(near, name);
      if (/^\w+_id$/.test(place) && near.fields.some(({ column }) => column === place)) {
        await test.database.execute(sql`
          UPDATE ${ident(near.table)} SET ${ident(place)} = ${(await samples.of(far.type)).id}
          WHERE id = ${from.id} AND ${ident(place)} IS NULL`);
      }
      const [, child, pointer] = /^(\w+)\.(\w+_id)$/.exec(place) ?? [];
      if (child && pointer && far.stored) {
        await test.database.execute(sql`
          UPDATE ${ident(child)} SET ${ident(pointer)} = ${from.id}
          WHERE id = ${(await samples.of(far.type)).id} AND ${ident(pointer)} IS NULL`);
      }
      const [, table, one, two, , column, value] =
        /^(\w+)\.(\w+)\.(\w+)(\?(\w+)=(\w+))?$/.exec(place) ?? [];
      if (!table || far !== near || table.startsWith('role_')) continue;
      const link = { [one!]: from.id, [two!]: others.get(path)!.id };
      await samples.link(table, column ? { ...link, [column]: value } : link);
    }
  }
}

const targetOf = (near: ResourceDefinition, name: string): ResourceDefinition =>
  follow(near, resolveName(near, name))!.target();

/** Returns a query for the rows of a list that the caller may read. */
function seen(near: ResourceDefinition, { actor }: Caller): Sql {
  const kinds = near.variants?.().map(({ discriminator }) => discriminator);
  return and(
    near.partCondition('n'),
    near.unhidden?.('n') ?? TRUE,
    permit(near.policy, 'list', 'n', actor),
    kinds ? sql`n.type = ANY(${kinds}::text[])` : TRUE,
  );
}

/** Returns the condition that joins a row of a list, `n`, to a related row, `f`. */
function tied(place: string): Sql {
  if (place === '=') return sql`f.id = n.id`;
  if (place === 'none') return FALSE;
  if (place.startsWith('@')) {
    const [column = '', value] = place.slice(1).split('=');
    return sql`${ident('f', column)} = ${value}`;
  }
  const [path = '', constant] = place.split('?');
  const [first = '', second, third] = path.split('.');
  if (second === undefined) return sql`f.id = ${ident('n', first)}`;
  if (third === undefined) return sql`${ident('f', second)} = n.id`;
  const [column, value] = constant?.split('=') ?? [];
  return sql`EXISTS (SELECT 1 FROM ${ident(first)} l
    WHERE ${ident('l', second)} = n.id AND ${ident('l', third)} = f.id
      AND ${column ? sql`${ident('l', column)} = ${value}` : TRUE})`;
}

/** Returns the condition that a row of a list has a related row that the caller may read. */
function hasReadable(near: ResourceDefinition, name: string, place: string, caller: Caller): Sql {
  const far = targetOf(near, name);
  if (!far.stored) return FALSE;
  return sql`EXISTS (SELECT 1 FROM ${ident(far.table)} f WHERE ${and(
    far.partCondition('f'),
    permit(far.policy, 'read', 'f', caller.actor),
    or(...place.split(' | ').map(tied)),
  )})`;
}

/** Returns the rows of a list that the caller may read, with a flag per relation: has a related row. */
async function expected(path: string, caller: Caller): Promise<Row[]> {
  const near = definitionOf(path);
  if (!near.stored) return [];
  const columns = relationsOf(path).map(
    ([name, place]) => sql`${hasReadable(near, name, place, caller)} AS ${ident(`has_${name}`)}`,
  );
  return test.database.rows<Row>(sql`
    SELECT ${join([sql`n.id`, ...columns], ', ')} FROM ${ident(near.table)} n
    WHERE ${seen(near, caller)} ORDER BY n.id`);
}

/** Returns a text field of the related row that is never null. */
function textOf(near: ResourceDefinition, name: string): string {
  const text = targetOf(near, name).fields.find(
    ({ kind, column, filter, internal, nullable }) =>
      ['string', 'text', 'choice'].includes(kind) && column && filter && !internal && !nullable,
  )!;
  return `${name}__${text.name}`;
}

/** Returns a condition on the related row that each row meets. */
const anyValue = (near: ResourceDefinition, name: string): string =>
  `${textOf(near, name)}__contains=`;

async function answer(caller: Caller, path: string, query: string) {
  const { status, body } = await caller.client.get(`${path}/?order_by=id&page_size=200&${query}`);
  return status === 200
    ? { count: body.count, ids: body.results.map(({ id }: Row) => id) }
    : { status, body };
}

const relationsOf = (path: string) => Object.entries(LISTS[path]!);

const idsOf = (rows: readonly Row[]) => ({ count: rows.length, ids: rows.map(({ id }) => id) });

const withoutConstant = (place: string): string => place.replace(/\?.*/, '');

const expectedRows = new Map<string, Promise<Row[]>>();

/** Returns the rows of a list that the superuser sees. They are read once, as no test changes them. */
function rowsOf(path: string): Promise<Row[]> {
  const rows = expectedRows.get(path) ?? expected(path, superuser);
  expectedRows.set(path, rows);
  return rows;
}

describe.each(PATHS)('%s', (path) => {
  it('returns the rows of each relation, by as many statements as without it', async () => {
    const near = definitionOf(path);
    const faults: unknown[] = [];
    const rows = await rowsOf(path);
    let sent = 0;
    const ask = async (query: string) => {
      const before = test.database.statementCount;
      const got = await answer(superuser, path, query);
      sent = test.database.statementCount - before;
      return got;
    };
    await ask('id__regex=.');
    const plain = sent;
    for (const [name] of relationsOf(path)) {
      const right = rows.filter((row) => row[`has_${name}`]);
      const got = await ask(anyValue(near, name));
      if (!isDeepStrictEqual(got, idsOf(right)) || sent > plain) {
        faults.push({ name, sent, plain, got, right: idsOf(right) });
      }
    }
    expect(faults).toEqual([]);
  });

  it('shows a caller nothing about unreadable related rows', async () => {
    const near = definitionOf(path);
    const faults: unknown[] = [];
    const views = await Promise.all(
      holders.map(async (caller) => ({ caller, rows: await expected(path, caller) })),
    );
    // The caller who sees the fewest rows sees the fewest related rows too.
    const [view] = views
      .filter(({ rows }) => rows.length > 0)
      .toSorted((one, other) => one.rows.length - other.rows.length);
    if (!view) return;
    const { caller, rows } = view;
    for (const [name] of relationsOf(path)) {
      // One request checks both: rows outside the negated condition meet the plain one.
      const lacking = idsOf(rows.filter((row) => row[`has_${name}`] === false));
      const got = await answer(caller, path, `not__${anyValue(near, name)}`);
      if (!isDeepStrictEqual(got, lacking)) faults.push({ name, lacking, got });
      if (!follow(near, resolveName(near, name))!.isSingle) continue;
      // In an order, rows without a readable related row are equal: only their ids tell them apart.
      for (const sign of ['', '-']) {
        const query = `order_by=${sign}${textOf(near, name)},id&page_size=200`;
        const { status, body } = await caller.client.get(`${path}/?${query}`);
        const ids = status === 200 ? body.results.map(({ id }: Row) => id) : body;
        const equals = status === 200 ? ids.filter((id: number) => lacking.ids.includes(id)) : ids;
        if (!isDeepStrictEqual(equals, lacking.ids)) faults.push({ query, equals, lacking });
      }
    }
    expect(faults).toEqual([]);
  });
});

it('related rows are found by an index', async () => {
  const indexed = await test.database.rows<{ place: string }>(sql`
    SELECT c.relname || '.' || a.attname AS place
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]`);
  const known = new Set(indexed.map(({ place }) => place));
  const asked = PATHS.flatMap((path) =>
    relationsOf(path).flatMap(([, place]) => place.split(' | ').map(withoutConstant)),
  ).map((place) => place.split('.').slice(0, 2).join('.'));
  const missing = asked.filter((place) => place.includes('.') && !known.has(place));
  expect([...new Set(missing)]).toEqual([]);
});

it('every tested table has rows', async () => {
  const places = new Set<string>();
  const met = new Set<string>();
  for (const path of PATHS) {
    const rows = await rowsOf(path);
    for (const [name, place] of relationsOf(path)) {
      places.add(withoutConstant(place));
      if (rows.some((row) => row[`has_${name}`])) met.add(withoutConstant(place));
    }
  }
  expect([...places].filter((place) => !met.has(place))).toEqual(['none']);
});

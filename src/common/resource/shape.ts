import { ident, join, sql, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import type { ResourceDefinition } from './define-resource.js';
import { linksOf } from './links.js';

/** Path of a related object, or the paths of several. */
export type ShapedLink = string | readonly string[];

/** Columns and keys of a representation, computed once per resource. */
export interface Shape {
  /** Columns of `t` in a list and on a detail, and columns of `s` in a summary. */
  columns: Readonly<Record<'list' | 'detail' | 'summary', Sql>>;
  /** Keys of the representation that are columns. */
  shown: readonly { name: string; column: string; isSecret: boolean }[];
  references: readonly { name: string; column: string; target: ResourceDefinition }[];
  /** References that are summarized, with their key in `summary_fields`. */
  summarized: readonly { key: string; column: string; target: ResourceDefinition }[];
  /** Names of the summary members that are timestamps. */
  instants: readonly string[];
  /** Paths below the object's URL, by their name in `related`. */
  links: readonly (readonly [name: string, suffix: string])[];
  /** Each capability with the first capability of the same rule, the only one that is evaluated. */
  capabilities: readonly (readonly [name: string, evaluated: string])[];
}

const shapes = new WeakMap<ResourceDefinition, Shape>();

export function shapeOf(definition: ResourceDefinition): Shape {
  const known = shapes.get(definition);
  if (known) return known;
  const shape = buildShape(definition);
  shapes.set(definition, shape);
  return shape;
}

function buildShape(definition: ResourceDefinition): Shape {
  const stored = definition.fields.flatMap((field) =>
    field.column === null || field.internal ? [] : [{ ...field, column: field.column }],
  );
  const references = stored.flatMap(({ name, column, target }) =>
    target ? [{ name, column, target: target() }] : [],
  );
  return {
    columns: {
      list: columnsOf(
        definition,
        stored.filter((field) => !field.detailOnly),
      ),
      detail: columnsOf(definition, stored),
      summary: summaryColumns(definition),
    },
    shown: stored
      .filter(({ name, writeOnly, hidden }) => name !== 'id' && !writeOnly && !hidden)
      .map(({ name, column, kind }) => ({ name, column, isSecret: kind === 'secret' })),
    references,
    summarized: references.flatMap(({ name, column, target }) => {
      const key = name in definition.summaryKeys ? definition.summaryKeys[name] : name;
      return typeof key === 'string' ? [{ key, column, target }] : [];
    }),
    instants: definition.summary.filter((name) => definition.field(name)?.kind === 'datetime'),
    links: [...linksOf(definition)].map(([name, path]) => [name, `${path}/`]),
    capabilities: evaluatedCapabilities(definition),
  };
}

function columnsOf(definition: ResourceDefinition, fields: readonly { column: string }[]): Sql {
  const columns = fields.map(({ column }) => ident('t', column));
  if (definition.variants) columns.push(ident('t', 'type'));
  return join(columns);
}

function summaryColumns(definition: ResourceDefinition): Sql {
  const computed = definition.summarize?.('s') ?? {};
  const columnNames = definition.summary.filter((name) => !(name in computed));
  const columns = columnNames.map((name) => {
    const column = definition.field(name)?.column ?? name;
    return sql`${ident('s', column)} AS ${ident(name)}`;
  });
  for (const [name, value] of Object.entries(computed)) {
    columns.push(sql`(${value}) AS ${ident(name)}`);
  }
  return join(columns);
}

/** Caller without privileges, for comparing rules. */
const UNPRIVILEGED: Actor = { id: 0, username: '', isSuperuser: false, isSystemAuditor: false };

function evaluatedCapabilities(definition: ResourceDefinition): (readonly [string, string])[] {
  const firstOf = new Map<string, string>();
  return Object.entries(definition.capabilities).map(([name, action]) => {
    const { text, values } = permit(definition.policy, action, 't', UNPRIVILEGED).toQuery();
    // System auditors can read all objects, so `read` never shares a rule with another action.
    const rule = JSON.stringify([action === 'read', text, values]);
    const first = firstOf.get(rule) ?? name;
    firstOf.set(rule, first);
    return [name, first] as const;
  });
}

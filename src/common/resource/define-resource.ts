import type { Expression } from './expression.js';
import { ident, raw, sql, type Sql } from '../../database/sql.js';
import type { Database } from '../../database/database.js';
import type { Together } from '../../database/together.js';
import type { TableIndex } from '../../database/table.js';
import type { Actor, Policy } from '../access.js';
import { fieldsOf, type ColumnName, type Field } from '../fields/field.js';
import { titleOf } from '../fields/label.js';
import type { SchemaClass, Unmarked } from '../fields/field.js';
import { BrokenInvariant } from '../invariants.js';
import type { JsonSchema, JsonSchemas } from '../fields/json-schema.js';
import { ownNames } from '../records.js';
import { frozen } from './frozen.js';
import { layoutNames, type PageLayout } from './page-layout.js';
import { register } from './registry.js';
import type { KeptTotals } from './kept-totals.js';

/** A row of any resource, for code that serves all of them. */
export type Row = Record<string, unknown> & { id: number };

/**
 * A row of the resource that a schema class declares, by column name. A list leaves out what is
 * shown on the detail only, and fields without a column are in no row.
 */
export type RowOf<Schema extends object> = Row & {
  [Name in keyof Schema & string as ColumnName<Name, Schema[Name]>]: Unmarked<Schema[Name]>;
};

/** How rows of one resource belong to rows of another, beyond references of its own. */
export type Relation =
  /** `field`: reference of the target that points here. */
  | { kind: 'has-many'; target: () => ResourceDefinition; field: string }
  | {
      kind: 'many-to-many';
      target: () => ResourceDefinition;
      table: string;
      near: string;
      far: string;
      /** Constant columns of the link, such as the event of a notification. */
      fixed?: Record<string, string>;
      /** Keeps the order in which children were attached. */
      ordered?: boolean;
    }
  | {
      kind: 'computed';
      target: () => ResourceDefinition;
      condition: (near: Sql, far: string) => Sql;
      /** The same seen from the target: `near` is an id of it, `far` an alias of this resource. */
      back?: (near: Sql, far: string) => Sql;
      single?: boolean; // Leads to one row at most.
    };

/** What a representation is built with. */
export interface RepresentContext {
  database: Database;
  /** What else is asked of the database at the same moment goes with it. */
  together: Together;
  actor: Actor;
  detail: boolean;
  /** A provider of the application, for what `extend` cannot work out from rows: opening secrets. */
  find: <T>(token: abstract new (...args: never[]) => T) => T;
}

/** What `extend` may add to the representation of one row. */
export interface Extension {
  fields?: Record<string, unknown>;
  /** Paths by name, several where objects of one kind are many; null takes a link away. */
  related?: Record<string, string | readonly string[] | null>;
  summary_fields?: Record<string, unknown>;
}

/** What representations hold beyond fields, references and links, for the OpenAPI document. */
export interface ShownBesides {
  /** Schemas of what `extend` adds as fields, and of fields it shows in another shape. */
  fields?: JsonSchemas;
  /** Names of fields that are not in every representation. */
  optional?: readonly string[];
  /** Names of the links `extend` adds. */
  related?: readonly string[];
  /** Schema of links whose names are not known beforehand. */
  relatedOthers?: JsonSchema;
  /** Schemas of the entries `extend` adds to `summary_fields`. */
  summary_fields?: JsonSchemas;
  /** Schema of entries whose names are not known beforehand. */
  summaryOthers?: JsonSchema;
  /** Schemas of what `summarise` adds where other resources show this one. */
  summary?: JsonSchemas;
}

export interface RoleDeclaration {
  /** Name of the role field, `admin_role`. */
  field: string;
  /** Fields of this object whose holders hold this one too. */
  impliedBy?: readonly string[];
  /** Role fields of the referenced organization (or other parent) whose holders hold this one. */
  impliedByParent?: Readonly<Record<string, readonly string[]>>;
}

export interface UniqueRule {
  /** Name of the constraint in the database. */
  name: string;
  columns: readonly string[];
  /** Condition of a partial index, as PostgreSQL prints it: rows outside of it may repeat. */
  where?: string;
  /** Field the message stands on; `__all__` when several make it up. */
  field: string;
  message: string;
}

/**
 * What an object keeps that somebody attached who was allowed to use it, and what decides where it
 * goes or what is done with it. Changing that asks the same of whoever changes it, or that he brings
 * another thing along (docs/contract/access.md#kept-secrets).
 */
export interface Purpose {
  /** Fields that decide it. */
  decidedBy: readonly string[];
  /** References and relations, by name, that lead to what is kept; or a relation without a name. */
  keeps: readonly (string | Relation)[];
}

export interface ResourceOptions<Schema extends object = object> {
  /** Collection below `/api/v2/`. */
  path: string;
  type: string;
  /** For people: "Job Template". */
  label?: string;
  schema: SchemaClass<Schema>;
  table: string;
  /** Value of the `type` column where several resources share a table. */
  discriminator?: string;
  /** Which rows of a shared table are the resource's, where no column tells. */
  part?: (alias: string) => Sql;
  policy: Policy;
  orderBy?: readonly string[];
  /** Fields of the primary key: the id, and in a partitioned table what its partitions go by. */
  primaryKey?: readonly string[];
  roles?: readonly RoleDeclaration[];
  relations?: Readonly<Record<string, Relation>>;
  unique?: readonly UniqueRule[];
  /** `where`: condition of a partial index, as PostgreSQL prints it. */
  indexes?: readonly TableIndex[];
  /** Columns another resource shows of this one. */
  summary?: readonly string[];
  /** Further members of that, as SQL over a row: what is no column of its own. */
  summarise?: (alias: string) => Readonly<Record<string, Sql>>;
  /** References summarised under another key or not at all (null). */
  summaryKeys?: Readonly<Record<string, string | null>>;
  /** `user_capabilities`: word to action of the policy. */
  capabilities?: Readonly<Record<string, string>>;
  /** Capabilities that a row may lack for every caller, such as the start of what nothing can run. */
  usable?: Readonly<Record<string, (row: Row) => boolean>>;
  /** Fields that name an object for people: `/teams/Ops++Default/`. */
  naturalKey?: readonly string[];
  /** Adds to the representation of a page of rows, in a constant number of statements. */
  extend?(
    rows: readonly RowOf<Schema>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>>;
  /** Schemas of what `extend` and `summarise` add. */
  shows?: ShownBesides;
  /** Aliases of filterable names, for the words clients know. */
  aliases?: Readonly<Record<string, string>>;
  /** Class of the provider with the hooks of `ResourceHooks`. */
  hooks?: abstract new (...args: never[]) => object;
  /** Whether changes are written to the activity stream. Default true. */
  audited?: boolean;
  /** Secrets: the activity stream hides them, a PUT without them keeps them (decision record 0032). */
  auditHidden?: readonly string[];
  /** What other objects, credentials above all, are used for by this one. */
  purposes?: readonly Purpose[];
  /** A reference, and the type of its object, whose readers see the activity of this one. */
  auditParent?: { field: string; type: string };
  /** How pages arrange its fields. */
  pages?: PageLayout;
  /** Parts of a list over several resources of one table, by `type`. */
  variants?: () => readonly ResourceDefinition[];
  /** Where exact totals are kept by the database; the rule of lists must speak of its columns alone. */
  counter?: KeptTotals;
  /** Filters lists besides fields and lookups. */
  expression?: Expression;
  /** Rows no list shows unless asked for by id and nothing may refer to: inventories being deleted. */
  hide?: (alias: string) => Sql;
  /** DELETE is accepted (202) and done by a worker. */
  deletesLater?: boolean;
  /** False: the product has none of these and no table; the list is readable and empty. */
  stored?: boolean;
}

/** One resource: what binds its table, its fields, its rules and its URLs. Frozen, with all in it. */
export interface ResourceDefinition<Schema extends object = object> extends Readonly<
  Required<
    Omit<
      ResourceOptions<Schema>,
      | 'extend'
      | 'hooks'
      | 'variants'
      | 'discriminator'
      | 'part'
      | 'hide'
      | 'counter'
      | 'expression'
      | 'summarise'
      | 'auditParent'
    >
  >
> {
  readonly fields: readonly Field[];
  field(name: string): Field | undefined;
  readonly discriminator: string | null;
  readonly auditParent: ResourceOptions['auditParent'] | null;
  readonly extend: ResourceOptions<Schema>['extend'] | null;
  readonly hooks: ResourceOptions['hooks'] | null;
  readonly variants: ResourceOptions['variants'] | null;
  readonly hide: ResourceOptions['hide'] | null;
  readonly counter: NonNullable<ResourceOptions['counter']> | null;
  readonly summarise: ResourceOptions['summarise'] | null;
  readonly expression: Expression | null;
  url(id: unknown): string;
  /** `FROM` condition that belongs to the resource itself: its part of a shared table. */
  own(alias: string): Sql;
}

/** What a resource is where its declaration says nothing. */
const DEFAULTS = {
  primaryKey: ['id'],
  roles: [],
  relations: {},
  unique: [],
  indexes: [],
  summary: ['id', 'name', 'description'],
  summaryKeys: {},
  capabilities: { edit: 'change', delete: 'delete' },
  usable: {},
  naturalKey: [],
  shows: {},
  aliases: {},
  audited: true,
  auditHidden: [],
  purposes: [],
  pages: {},
  auditParent: null,
  discriminator: null,
  extend: null,
  hooks: null,
  variants: null,
  hide: null,
  counter: null,
  deletesLater: false,
  stored: true,
  summarise: null,
  expression: null,
} satisfies Partial<ResourceDefinition>;

export function defineResource<Schema extends object>(
  options: ResourceOptions<Schema>,
): ResourceDefinition<Schema> {
  const fields = fieldsOf(options.schema);
  const byName = new Map(fields.map((field) => [field.name, field]));
  const { discriminator } = { ...DEFAULTS, ...options };
  const { part, ...declared } = options;
  const definition: ResourceDefinition<Schema> = frozen({
    ...DEFAULTS,
    label: titleOf(options.type),
    orderBy: byName.has('name') ? ['name'] : ['id'],
    summary: DEFAULTS.summary.filter((name) => byName.has(name)),
    ...declared,
    relations: ownNames(declared.relations),
    aliases: ownNames(declared.aliases),
    fields,
    field: (name) => byName.get(name),
    url: (id) => `/api/v2/${options.path}/${String(id)}/`,
    own: (alias) =>
      discriminator === null
        ? (part?.(alias) ?? raw('TRUE'))
        : sql`${ident(alias, 'type')} = ${discriminator}`,
  });
  const deciding = definition.purposes.flatMap(({ decidedBy }) => decidedBy);
  for (const name of deciding) fieldOf(definition, name);
  // Rows of a list over several resources have the fields of their own.
  const laidOut = definition.variants ? [] : layoutNames(definition.pages);
  for (const name of laidOut) {
    if (!(name in (definition.shows.fields ?? {}))) fieldOf(definition, name);
  }
  const { folded = [], unfolded = [] } = definition.pages;
  for (const title of [...folded, ...unfolded]) {
    if (!definition.pages.sections?.[title]) {
      throw new BrokenInvariant(`${definition.type} has a heading ${title}`);
    }
  }
  register(definition);
  return definition;
}

/** A field that the declaration of its resource names elsewhere: in a key, or as a parent. */
export function fieldOf(definition: ResourceDefinition, name: string): Field {
  const field = definition.field(name);
  if (!field) throw new BrokenInvariant(`${definition.type} has a field ${name}`);
  return field;
}

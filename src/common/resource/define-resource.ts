import type { Expression } from './expression.js';
import { FALSE, ident, sql, TRUE, type Sql } from '../../database/sql.js';
import { tableNameOf } from '../../database/table.js';
import type { Actor, Policy } from '../access.js';
import {
  columnOf,
  definitionOf,
  definitions,
  fieldsOf,
  type ColumnName,
  type Field,
  type SchemaClass,
  type Unmarked,
} from '../fields/field.js';
import { titleOf } from '../fields/label.js';
import { BrokenInvariant } from '../invariants.js';
import type { ProviderClass } from '../declared-providers.service.js';
import { ownNames } from '../records.js';
import type { Extension, ResourceExtension, ShownMembers } from './extension.js';
import { layoutNames, type PageLayout } from './page-layout.js';
import type { StoredTotals } from './stored-totals.js';

/** Row of any resource, for code that serves all resources. */
export type Row = Record<string, unknown> & { id: number };

/**
 * Row of the resource that a schema class declares, by column name. Rows of lists lack the detail-only
 * columns, and fields without a column are in no row.
 */
export type RowOf<Schema extends object> = Row & {
  [Name in keyof Schema & string as ColumnName<Name, Schema[Name]>]: Unmarked<Schema[Name]>;
};

/** Relation by a link table. */
export interface ManyToMany {
  kind: 'many-to-many';
  target: () => ResourceDefinition;
  table: string;
  /** Column with the id of a row of the declaring resource. */
  sourceColumn: string;
  /** Column with the id of a target row. */
  targetColumn: string;
  /** Constant columns of the link, such as the event of a notification. */
  fixed?: Record<string, string>;
  /** True: the order in which children were attached is stored. */
  ordered?: boolean;
}

/** Relation between two resources that is not a reference of the first resource. */
export type Relation =
  /** `field`: reference of the target to this resource. */
  | { kind: 'has-many'; target: () => ResourceDefinition; field: string }
  | ManyToMany
  | {
      kind: 'computed';
      target: () => ResourceDefinition;
      /** SQL condition between the id of a row of this resource and an alias of the target. */
      condition: (id: Sql, alias: string) => Sql;
      /** Reverse condition, between the id of a target row and an alias of this resource. */
      back?: (id: Sql, alias: string) => Sql;
      single?: boolean; // True: at most one row.
    };

/**
 * Declares a relation to the rows of a type that refer to this resource.
 *
 * @param field reference of the type to this resource
 */
export const hasMany = (type: string, field: string): Relation => ({
  kind: 'has-many',
  target: () => resource(type),
  field,
});

/** Link table of a relation. Its `targetColumn` is by default `<type of the target>_id`. */
type LinkTable = Omit<ManyToMany, 'kind' | 'target' | 'targetColumn'> & { targetColumn?: string };

/** Declares a relation to the rows of a type that a link table attaches to this resource. */
export const manyToMany = (type: string, link: LinkTable): ManyToMany => ({
  kind: 'many-to-many',
  target: () => resource(type),
  targetColumn: `${type}_id`,
  ...link,
});

/** Declares a relation that is always empty, for clients that filter by its name. */
export const emptyRelation = (type: string): Relation => ({
  kind: 'computed',
  target: () => resource(type),
  condition: () => FALSE,
  single: true,
});

export interface RoleDeclaration {
  /** Name of the role field, for example `admin_role`. */
  field: string;
  /** Role fields of this object that imply this role. */
  impliedBy?: readonly string[];
  /**
   * Role fields of a parent that imply this role, by the name of the reference: `organization`, or
   * `inventory.organization` for the parent of a parent.
   */
  impliedByParent?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Objects, such as secrets, whose use depends on other fields. To change these fields, a caller needs the
 * permission to attach the objects, or must replace them (docs/contract/access.md#kept-secrets).
 */
export interface Destination {
  /** Fields that determine the destination or use. */
  decidedBy: readonly string[];
  /** Names of the references and relations to the objects, or a relation without a name. */
  protects: readonly (string | Relation)[];
}

export interface ResourceOptions<Schema extends object = object> {
  /** Collection below `/api/v2/`. */
  path: string;
  type: string;
  /** Display name: "Job Template". */
  label?: string;
  /** Class of the rows. Without a table, the resource has no objects: its list is readable and empty. */
  entity: SchemaClass<Schema>;
  /** Value of the `type` column if several resources share a table. */
  discriminator?: string;
  /** SQL condition for the resource's rows in a shared table without a `type` column. */
  part?: (alias: string) => Sql;
  policy: Policy;
  orderBy?: readonly string[];
  roles?: readonly RoleDeclaration[];
  relations?: Readonly<Record<string, Relation>>;
  /** Messages by violated unique index of the entity. A text is an error of the object (`__all__`). */
  unique?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  /** Columns in the summaries of this resource in other resources. */
  summary?: readonly string[];
  /** Additional members of summaries, as SQL over a row. */
  summarize?: (alias: string) => Readonly<Record<string, Sql>>;
  /** Keys of references in `summary_fields` that differ from the field name; null: no summary. */
  summaryKeys?: Readonly<Record<string, string | null>>;
  /** `user_capabilities`: actions of the policy by capability. */
  capabilities?: Readonly<Record<string, string>>;
  /** Conditions of capabilities that apply also to superusers: an incomplete template cannot be started. */
  usable?: Readonly<Record<string, (row: Row, actor: Actor) => boolean>>;
  /** Fields of the natural key: `/teams/Ops++Default/`. */
  naturalKey?: readonly string[];
  /** Provider class that extends the representations of a page of rows. */
  extension?: ProviderClass<ResourceExtension<Schema>>;
  /** Same as `extension`, if the function needs no providers. */
  extend?: ResourceExtension<Schema>['extend'];
  /** Schemas of the additions of `extend` and `summarize`. */
  shows?: ShownMembers;
  /** Aliases of filterable names, for names that clients use. */
  aliases?: Readonly<Record<string, string>>;
  /** Provider class with the hooks of `ResourceHooks`. */
  hooks?: ProviderClass<object>;
  /** True (the default): changes are written to the activity stream. */
  audited?: boolean;
  /**
   * Secrets: hidden in the activity stream, and kept by a PUT that omits them
   * (docs/decisions/0061-kept-secrets.md).
   */
  auditHidden?: readonly string[];
  /** Objects, mainly credentials, whose use depends on other fields of this resource. */
  destinations?: readonly Destination[];
  /** Reference to a parent object, with its type. Readers of the parent can read this object's activity. */
  auditParent?: { field: string; type: string };
  /** Arrangement of the fields on pages. */
  pages?: PageLayout;
  /** Resources of a list over several resources of one table, by `type`. */
  variants?: () => readonly ResourceDefinition[];
  /** Exact totals maintained by the database. Without `rule`, the read rule depends on their columns only. */
  counter?: StoredTotals;
  /** Names that a search includes besides the resource's own fields, in the notation of filters. */
  alsoSearched?: {
    names: readonly string[];
    /** Returns the condition for rows with the term in related objects that the caller can read. */
    condition: (alias: string, term: string, actor: Actor) => Sql;
  };
  /** Query language for lists, besides fields and lookups. */
  expression?: Expression;
  /**
   * Condition that only hidden rows fail. Lists omit hidden rows unless selected by id; references cannot use
   * them.
   */
  unhidden?: (alias: string) => Sql;
  /** True: DELETE returns 202, and a worker deletes the object. */
  deletesLater?: boolean;
}

/** Complete declaration of a resource: table, fields, rules and URLs. Deeply frozen. */
export interface ResourceDefinition<Schema extends object = object> extends Readonly<
  Omit<ResourceOptions<Schema>, 'part' | Defaulted> &
    Required<Pick<ResourceOptions<Schema>, Defaulted>>
> {
  readonly table: string;
  /** True if the entity has a table. */
  readonly stored: boolean;
  readonly fields: readonly Field[];
  field(name: string): Field | undefined;
  url(id: unknown): string;
  /** Returns the SQL condition for the resource's part of a shared table. */
  partCondition(alias: string): Sql;
}

/** Defaults of a resource declaration. */
const DEFAULTS = {
  roles: [],
  relations: {},
  unique: {},
  summary: ['id', 'name', 'description'],
  summaryKeys: {},
  capabilities: { edit: 'change', delete: 'delete' },
  usable: {},
  naturalKey: [],
  shows: {},
  aliases: {},
  audited: true,
  auditHidden: [],
  destinations: [],
  pages: {},
  alsoSearched: { names: [], condition: () => FALSE },
  deletesLater: false,
} satisfies Partial<ResourceOptions>;

/** Options that every definition has. */
type Defaulted = keyof typeof DEFAULTS | 'label' | 'orderBy';

export function defineResource<Schema extends object>(
  options: ResourceOptions<Schema>,
): ResourceDefinition<Schema> {
  const fields = fieldsOf(options.entity);
  const table = tableNameOf(options.entity);
  const byName = new Map(fields.map((field) => [field.name, field]));
  const { part, ...declared } = options;
  const { discriminator } = declared;
  const definition: ResourceDefinition<Schema> = frozen({
    ...DEFAULTS,
    label: titleOf(options.type),
    orderBy: byName.has('name') ? ['name'] : ['id'],
    summary: DEFAULTS.summary.filter((name) => byName.has(name)),
    ...declared,
    relations: ownNames(declared.relations),
    aliases: ownNames(declared.aliases),
    table: table ?? options.path,
    stored: table !== undefined,
    fields,
    field: (name) => byName.get(name),
    url: (id) => `/api/v2/${options.path}/${String(id)}/`,
    partCondition: (alias) =>
      discriminator === undefined
        ? (part?.(alias) ?? TRUE)
        : sql`${ident(alias, 'type')} = ${discriminator}`,
  });
  const deciding = definition.destinations.flatMap(({ decidedBy }) => decidedBy);
  for (const name of deciding) fieldOf(definition, name);
  // The rows of a list over several resources have the fields of their own resource.
  const layoutFields = definition.variants ? [] : layoutNames(definition.pages);
  for (const name of layoutFields) {
    if (!(name in (definition.shows.fields ?? {}))) fieldOf(definition, name);
  }
  const { folded = [], unfolded = [] } = definition.pages;
  for (const title of [...folded, ...unfolded]) {
    if (!definition.pages.sections?.[title]) {
      throw new BrokenInvariant(`${definition.type} has a heading ${title}`);
    }
  }
  if (definitions.has(definition.type))
    throw new Error(`Resource ${definition.type} is defined twice`);
  definitions.set(definition.type, definition);
  return definition;
}

/** Returns the definition of a type, for references that would otherwise cause circular imports. */
export const resource = definitionOf;

export const findResource = (type: string): ResourceDefinition | undefined => definitions.get(type);

export const resources = (): readonly ResourceDefinition[] => [...definitions.values()];

/** Splits a path of `RoleDeclaration.impliedByParent` into the reference at its start and the rest. */
export function stepsOf(
  definition: ResourceDefinition,
  path: string,
): { reference: Field; next: string | undefined } {
  const [name = '', next] = path.split('.');
  return { reference: fieldOf(definition, name), next };
}

/** Returns the different paths to parents whose roles imply roles of a resource. */
export const parentPaths = ({ roles }: ResourceDefinition): string[] => [
  ...new Set(roles.flatMap(({ impliedByParent = {} }) => Object.keys(impliedByParent))),
];

/** Returns the columns of the references at the start of the paths to parents. */
export const parentColumns = (definition: ResourceDefinition): string[] =>
  parentPaths(definition).map((path) => columnOf(stepsOf(definition, path).reference));

/** Returns a field that another part of the declaration names, such as a key or a parent. */
export function fieldOf(definition: ResourceDefinition, name: string): Field {
  const field = definition.field(name);
  if (!field) throw new BrokenInvariant(`${definition.type} has a field ${name}`);
  return field;
}

/**
 * Freezes a declaration and the lists and objects in it. Functions and instances of classes, such as SQL
 * fragments, are not frozen.
 */
function frozen<T>(value: T): T {
  if (isData(value) && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}

function isData(value: unknown): value is object {
  if (Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns the extensions of rows by id. A row for which `extensionOf` returns undefined has none. */
export function extendEach<Extended extends { id: number }>(
  rows: readonly Extended[],
  extensionOf: (row: Extended) => Extension | undefined,
): Map<number, Extension> {
  const extensions = new Map<number, Extension>();
  for (const row of rows) {
    const extension = extensionOf(row);
    if (extension) extensions.set(row.id, extension);
  }
  return extensions;
}

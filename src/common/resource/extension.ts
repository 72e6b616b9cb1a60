import type { Database } from '../../database/database.js';
import type { StatementBatch } from '../../database/statement-batch.js';
import type { Actor, RoleStore } from '../access.js';
import type { DeclaredProviders } from '../declared-providers.service.js';
import type { JsonSchema, JsonSchemas } from '../fields/json-schema.js';
import type { RowOf } from './define-resource.js';

/** Dependencies of building a representation. */
export interface RepresentContext {
  database: Database;
  /** Combines queries that are requested at the same time into one statement. */
  batch: StatementBatch;
  actor: Actor;
  detail: boolean;
  roles: RoleStore;
  /** Finds the `extension` of a resource. An extension gets its own providers by its constructor. */
  providers: DeclaredProviders;
}

/** Provider that a resource names as its `extension`. */
export interface ResourceExtension<Schema extends object = object> {
  /** Extends the representations of a page of rows, with a constant number of statements. */
  extend(
    rows: readonly RowOf<Schema>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>>;
}

/** Additions of `extend` to the representation of one row. */
export interface Extension {
  fields?: Record<string, unknown>;
  /** Paths by name, or a list of paths if several objects are linked; null removes a link. */
  related?: Record<string, string | readonly string[] | null>;
  summary_fields?: Record<string, unknown>;
}

/** Additional members of representations besides declared fields and links, for the OpenAPI document. */
export interface ShownMembers {
  /** Schemas of the fields that `extend` adds or shows in another shape. */
  fields?: JsonSchemas;
  /** Names of fields that some representations omit. */
  optional?: readonly string[];
  /** Names of the links that `extend` adds. */
  related?: readonly string[];
  /** Schema of links with dynamic names. */
  relatedOthers?: JsonSchema;
  /** Schemas of the entries that `extend` adds to `summary_fields`. */
  summary_fields?: JsonSchemas;
  /** Schema of entries with dynamic names. */
  summaryOthers?: JsonSchema;
  /** Schemas of the members that `summarize` adds to summaries of this resource. */
  summary?: JsonSchemas;
}

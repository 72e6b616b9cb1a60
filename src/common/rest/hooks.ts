import type { Actor } from '../access.js';
import type { Reply } from '../http/reply.js';
import type { Unmarked } from '../fields/field.js';
import type { RowOf } from '../resource/define-resource.js';

export type Values = Record<string, unknown>;

/** Values of a request by field name, as far as it has them: of what the schema class declares. */
export type ValuesOf<Schema extends object> = Values & {
  [Name in keyof Schema]?: Unmarked<Schema[Name]> | undefined;
};

/**
 * Where a resource differs from plain create, change and delete. Every hook runs inside the
 * transaction of the request; throwing refuses the request and leaves nothing behind.
 * Values are keyed by field name; `extra` columns may be added by column name through `columns`.
 */
export interface ResourceHooks<Schema extends object = object> {
  /** After validation, before permission: checks across fields, defaults that depend on others. */
  prepareCreate?(values: ValuesOf<Schema>, actor: Actor): Promise<ExtraColumns | void>;
  created?(row: RowOf<Schema>, values: ValuesOf<Schema>, actor: Actor): Promise<void>;
  /**
   * `values` holds only fields that change. May refuse, or change `values` in place. `partial` tells
   * PATCH from PUT, for fields that are merged or replaced accordingly.
   */
  prepareUpdate?(
    row: RowOf<Schema>,
    values: ValuesOf<Schema>,
    actor: Actor,
    mode: { partial: boolean },
  ): Promise<ExtraColumns | void>;
  updated?(before: RowOf<Schema>, after: RowOf<Schema>, actor: Actor): Promise<void>;
  /** May refuse with Conflict; may see to the deletion itself and give the reply for it. */
  prepareDelete?(row: RowOf<Schema>, actor: Actor): Promise<Reply | void>;
}

/** Columns that are no fields, by column name: keys, hashes, parsed copies. */
export type ExtraColumns = Record<string, unknown>;

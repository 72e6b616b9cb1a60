import { outsideTransaction } from '../../database/attempts.js';
import type { Actor } from '../access.js';
import type { Unmarked } from '../fields/field.js';
import type { RowOf } from '../resource/define-resource.js';

export type Values = Record<string, unknown>;

/**
 * Values of a request by field name, as far as it has them: of what the schema class declares. They
 * are frozen.
 */
export type ValuesOf<Schema extends object> = Readonly<Values> & {
  readonly [Name in keyof Schema]?: Unmarked<Schema[Name]> | undefined;
};

/** What a hook makes of the values of a request. */
export interface Prepared<Schema extends object = object> {
  /** Values in place of those of the request, by field name; undefined: as if it were not sent. */
  values?: ValuesOf<Schema>;
  /** Columns that are no fields, or are stored in another form, by column name. */
  columns?: ExtraColumns;
  /**
   * Computes columns slowly, such as the hash of a password: when the caller was found to be permitted
   * to write the row, and outside the transaction, whose hooks run again with the result.
   */
  slowColumns?: () => Promise<ExtraColumns>;
}

/**
 * Where a resource differs from plain create, change and delete. Every hook runs inside the
 * transaction of the request; throwing refuses the request and leaves nothing behind. What is written
 * otherwise than it was sent is what a hook returns.
 */
export interface ResourceHooks<Schema extends object = object> {
  /**
   * Runs after validation and only for callers with the permission, also on every reference that is sent:
   * checks across fields, defaults that depend on others.
   */
  prepareCreate?(values: ValuesOf<Schema>, actor: Actor): Promise<Prepared<Schema> | void>;
  created?(row: RowOf<Schema>, values: ValuesOf<Schema>, actor: Actor): Promise<void>;
  /**
   * `values` holds only fields that change. `partial` tells PATCH from PUT, for fields that are merged
   * or replaced accordingly.
   */
  prepareUpdate?(
    row: RowOf<Schema>,
    values: ValuesOf<Schema>,
    actor: Actor,
    mode: { partial: boolean },
  ): Promise<Prepared<Schema> | void>;
  updated?(before: RowOf<Schema>, after: RowOf<Schema>, actor: Actor): Promise<void>;
  /**
   * @returns true if the hook has deleted the row, or has marked it for deletion
   * @throws Conflict to refuse the deletion
   */
  prepareDelete?(row: RowOf<Schema>, actor: Actor): Promise<boolean | void>;
}

/** Columns by column name: keys, hashes, parsed copies. */
export type ExtraColumns = Record<string, unknown>;

/** The values of a request as a hook leaves them. */
export const preparedValues = (sent: Readonly<Values>, { values }: Prepared): Values =>
  Object.fromEntries(
    Object.entries({ ...sent, ...values }).filter(([, value]) => value !== undefined),
  );

/** The columns of a hook, the slow ones computed outside the transaction. */
export async function preparedColumns({ columns, slowColumns }: Prepared): Promise<ExtraColumns> {
  const slow = slowColumns && (await outsideTransaction(slowColumns));
  return { ...columns, ...slow };
}

import { outsideTransaction } from '../../database/attempts.js';
import type { Actor } from '../access.js';
import type { Unmarked } from '../fields/field.js';
import type { Row, RowOf } from '../resource/define-resource.js';

export type Values = Record<string, unknown>;

/**
 * Values of a request by field name, limited to the fields of the schema class. The object is frozen, and
 * fields that were not sent are absent.
 */
export type ValuesOf<Schema extends object> = Readonly<Values> & {
  readonly [Name in keyof Schema]?: Unmarked<Schema[Name]> | undefined;
};

/** Returns the value of a field after a request: the value in the request, or else in the stored row. */
export const valueAfter =
  (values: Readonly<Values>, row: Partial<Row>) =>
  (field: string): unknown =>
    field in values ? values[field] : (row[field] ?? row[`${field}_id`] ?? null);

/** Result of a hook that prepares the values of a request. */
export interface Prepared<Schema extends object = object> {
  /**
   * Replacements for values of the request, by field name. Undefined drops the value as if it had not
   * been sent.
   */
  values?: ValuesOf<Schema>;
  /** Columns that are not fields or are stored in another form, by column name. */
  columns?: ExtraColumns;
  /**
   * Computes expensive columns, such as a password hash. Runs outside the transaction, after the caller's
   * permission to write the row has been verified; the hooks of the transaction then run again with the
   * result.
   */
  slowColumns?: () => Promise<ExtraColumns>;
}

/**
 * Deviations of a resource from plain create, change and delete. Every hook runs in the transaction of
 * the request, so throwing rejects the request and rolls back all changes. A hook changes what is written
 * only through its return value.
 */
export interface ResourceHooks<Schema extends object = object> {
  /**
   * Locks the parent of a row against deletion, before the row is locked: a deletion of the parent locks its
   * children after the parent, too.
   *
   * @param sent body of a change; empty for other requests
   */
  lockParent?(id: number, sent: Values): Promise<void>;
  /**
   * Runs after validation and after the permission checks, including those on every reference in the
   * request. For checks across fields and for defaults that depend on other fields.
   */
  prepareCreate?(values: ValuesOf<Schema>, actor: Actor): Promise<Prepared<Schema> | void>;
  created?(row: RowOf<Schema>, values: ValuesOf<Schema>, actor: Actor): Promise<void>;
  /**
   * `values` contains only the fields that change. `partial` is true for PATCH and false for PUT, for
   * fields that are merged by PATCH and replaced by PUT.
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

/** Returns the values of a request with the replacements of a hook applied. */
export const preparedValues = (sent: Readonly<Values>, { values }: Prepared): Values =>
  Object.fromEntries(
    Object.entries({ ...sent, ...values }).filter(([, value]) => value !== undefined),
  );

/** Returns the columns of a hook, with the expensive columns computed outside the transaction. */
export async function preparedColumns({ columns, slowColumns }: Prepared): Promise<ExtraColumns> {
  const slow = slowColumns && (await outsideTransaction(slowColumns));
  return { ...columns, ...slow };
}

import { applyDecorators } from '@nestjs/common';
import {
  Column,
  DefaultNamingStrategy,
  ForeignKey,
  getMetadataArgsStorage,
  Index,
  PrimaryGeneratedColumn,
  type Table,
} from 'typeorm';

/**
 * Effect of a deletion on the rows that refer to the deleted row: delete them, clear the reference, or keep the
 * id, without a foreign key. A reference never prevents a deletion; the feature rejects a deletion with a reason
 * where necessary.
 */
export type OnDelete = 'CASCADE' | 'SET NULL' | 'KEEP';

/** Options of a foreign key by its effect. Deferrable for `Database.prepareDeletion`. */
export const onDelete = (effect: Exclude<OnDelete, 'KEEP'>) =>
  ({ onDelete: effect, deferrable: 'INITIALLY IMMEDIATE' }) as const;

export const CASCADE = onDelete('CASCADE');
export const SET_NULL = onDelete('SET NULL');

/** Returns the default of a time column: the start of the transaction. */
export const now = (): string => 'now()';

/** Declares an id that PostgreSQL generates. */
export const GeneratedId = (type: 'integer' | 'bigint' = 'integer'): PropertyDecorator =>
  PrimaryGeneratedColumn('identity', { type, generatedIdentity: 'BY DEFAULT' });

/** Declares a column with the id of a row of a table, whose deletion deletes the declaring row too. */
export const LinkTo = (
  table: string,
  { type = 'integer', index = false }: { type?: 'integer' | 'bigint'; index?: boolean } = {},
): PropertyDecorator =>
  applyDecorators(Column(type), ForeignKey(table, CASCADE), ...(index ? [Index()] : []));

/** Base of rows that link the rows of two tables, or belong to rows of another table. */
export abstract class LinkRow {
  @GeneratedId()
  id!: number;
}

/** Base of links of rows with `bigint` ids. */
export abstract class WideLinkRow {
  @GeneratedId('bigint')
  id!: number;
}

type TableArgs = ReturnType<typeof getMetadataArgsStorage>['tables'][number];

/** Returns the declaration of the table that has the rows of a class or of an ancestor of it. */
function declaredTable(entity: object): TableArgs | undefined {
  const declaration = getMetadataArgsStorage().tables.find(({ target }) => target === entity);
  const ancestor: unknown = Object.getPrototypeOf(entity);
  return declaration ?? (typeof ancestor === 'function' ? declaredTable(ancestor) : undefined);
}

/** Returns the entity class that has the rows of a class: the class itself or an ancestor. */
export function entityOf(schema: object) {
  const target = declaredTable(schema)?.target;
  return typeof target === 'function' ? target : undefined;
}

/** Returns the name of the table that has the rows of a class; undefined for a request body. */
export const tableNameOf = (schema: object): string | undefined => declaredTable(schema)?.name;

/** Returns the names of the columns that a class itself declares. */
export const ownColumns = (entity: object): string[] =>
  getMetadataArgsStorage()
    .columns.filter(({ target }) => target === entity)
    .map(({ propertyName }) => propertyName);

/** Returns the declaration of a column by a class or its ancestors. */
export const declaredColumn = (schema: object, name: string) =>
  getMetadataArgsStorage().columns.find(
    ({ target, propertyName }) =>
      propertyName === name &&
      (target === schema || Object.prototype.isPrototypeOf.call(target, schema)),
  );

const nameOf = (table: Table | string): string => (typeof table === 'string' ? table : table.name);

/** Names keys and indexes as PostgreSQL does. */
export class NamingStrategy extends DefaultNamingStrategy {
  override primaryKeyName(table: Table | string): string {
    return `${nameOf(table)}_pkey`;
  }

  override foreignKeyName(table: Table | string, columns: string[]): string {
    return `${nameOf(table)}_${columns.join('_')}_fkey`;
  }

  override indexName(table: Table | string, columns: string[]): string {
    return `${nameOf(table)}_${columns.join('_')}_idx`;
  }
}

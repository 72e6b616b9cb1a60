import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';

/**
 * Effect of a deletion on the rows that refer to the deleted row: delete them, or clear the reference. A
 * reference never prevents a deletion; the feature refuses it with a reason where it must.
 */
export type OnDelete = 'CASCADE' | 'SET NULL';

export interface TableColumn {
  type: string;
  nullable?: boolean;
  /** SQL text of the default. */
  default?: string;
  primary?: boolean;
  /** Generated `integer`/`bigint` identity. */
  identity?: boolean;
  references?: { table: string; onDelete: OnDelete };
}

export interface TableIndex {
  name: string;
  columns: readonly string[];
  unique?: boolean;
  /** Partial index condition, as PostgreSQL prints it. */
  where?: string;
  /**
   * For parts of texts, by `pg_trgm`: it is there where PostgreSQL has that extension
   * (docs/decisions/0073-indexes.md).
   */
  trigrams?: boolean;
  /** For JSON documents that contain others, by `jsonb_path_ops`. */
  containment?: boolean;
}

/** A table without a resource of its own, or what a resource's declarations amount to. */
export interface TableDefinition {
  name: string;
  columns: Record<string, TableColumn>;
  indexes?: readonly TableIndex[];
}

const tables: TableDefinition[] = [];

/** Declares a table that no resource stands for: links, queues, secrets. */
export function defineTable(definition: TableDefinition): TableDefinition {
  tables.push(definition);
  return definition;
}

export const declaredTables = (): readonly TableDefinition[] => tables;

/** The TypeORM entity of a table; migrations and the drift check are made from these. */
export function entityOf({ name, columns, indexes = [] }: TableDefinition): EntitySchema {
  return new EntitySchema({
    name,
    tableName: name,
    columns: Object.fromEntries(
      Object.entries(columns).map(([column, options]) => [column, columnOf(name, column, options)]),
    ),
    indices: indexes.map((index) => ({
      name: index.name,
      columns: [...index.columns],
      unique: index.unique ?? false,
      ...(index.where ? { where: index.where } : {}),
      // An installation may be without trigrams, and TypeORM knows no operator classes.
      ...(index.trigrams || index.containment ? { synchronize: false } : {}),
    })),
  });
}

/** Numbers go in as numbers: TypeORM compares a numeric default given as SQL text as changed. */
function defaultOf(text: string): number | (() => string) {
  return /^-?\d+$/.test(text) ? Number(text) : () => text;
}

function columnOf(table: string, column: string, options: TableColumn): EntitySchemaColumnOptions {
  return {
    name: column,
    type: options.type as never,
    nullable: options.nullable ?? false,
    ...(options.primary ? { primary: true, primaryKeyConstraintName: `${table}_pkey` } : {}),
    ...(options.identity
      ? { generated: 'identity' as never, generatedIdentity: 'BY DEFAULT' as const }
      : {}),
    ...(options.default !== undefined ? { default: defaultOf(options.default) } : {}),
    ...(options.references
      ? {
          foreignKey: {
            target: options.references.table,
            onDelete: options.references.onDelete,
            // For deletions, see `Database.checkReferencesAtCommit`.
            deferrable: 'INITIALLY IMMEDIATE' as const,
            name: `${table}_${column}_fkey`,
          },
        }
      : {}),
  };
}

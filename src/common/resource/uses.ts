import { ident, join, sql, type Sql } from '../../database/sql.js';
import { resources, type ResourceDefinition } from './define-resource.js';

/** Returns a query with a row for each reference and each link of other objects to an object. */
export function usesOf({ type }: ResourceDefinition, id: number): Sql {
  const fields = resources()
    .filter(({ stored }) => stored)
    .flatMap(({ table, fields: declared }) =>
      declared.flatMap(({ column, target }): [table: string, column: string][] =>
        column !== null && target?.().type === type ? [[table, column]] : [],
      ),
    );
  const links = resources()
    .flatMap(({ relations }) => Object.values(relations))
    .flatMap((relation): [table: string, column: string][] =>
      relation.kind === 'many-to-many' && relation.target().type === type
        ? [[relation.table, relation.targetColumn]]
        : [],
    );
  // Resources can share a table.
  const columns = new Map([...fields, ...links].map((one) => [one.join('.'), one]));
  return join(
    [...columns.values()].map(
      ([table, column]) => sql`SELECT 1 FROM ${ident(table)} WHERE ${ident(column)} = ${id}`,
    ),
    ' UNION ALL ',
  );
}

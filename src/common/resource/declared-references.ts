import { ident, join, sql, type Sql } from '../../database/sql.js';
import { memberOf } from '../records.js';
import { resources, type ResourceDefinition } from './define-resource.js';

/** A column that refers to objects of a resource: of a reference field, or of a link table. */
interface DeclaredReference {
  table: string;
  column: string;
  from: ResourceDefinition;
  to: ResourceDefinition;
}

const declaredReferences = (): DeclaredReference[] =>
  resources().flatMap((definition) => [
    ...definition.fields.flatMap(({ column, target }) =>
      column !== null && target !== null
        ? [{ table: definition.table, column, from: definition, to: target() }]
        : [],
    ),
    ...Object.values(definition.relations).flatMap((relation) => {
      if (relation.kind !== 'many-to-many') return [];
      const { table, sourceColumn, targetColumn } = relation;
      const target = relation.target();
      return [
        { table, column: targetColumn, from: definition, to: target },
        { table, column: sourceColumn, from: target, to: definition },
      ];
    }),
  ]);

/** Returns a query with a row for each reference and each link of other objects to an object. */
export function usesOf({ type }: ResourceDefinition, id: number): Sql {
  const references = declaredReferences().filter(({ from, to }) => from.stored && to.type === type);
  // Resources can share a table.
  const columns = new Map(
    references.map((reference) => [`${reference.table}.${reference.column}`, reference]),
  );
  const uses = [...columns.values()].map(
    ({ table, column }) => sql`SELECT 1 FROM ${ident(table)} WHERE ${ident(column)} = ${id}`,
  );
  return join(uses, ' UNION ALL ');
}

/**
 * Returns the message for a reference whose object was deleted while the request ran.
 *
 * @param error database error with SQLSTATE 23503
 */
export function brokenReference(error: unknown): string {
  // Properties that the driver sets for a violated foreign key.
  const table = String(memberOf(error, 'table') ?? '');
  const constraint = String(memberOf(error, 'constraint') ?? '');
  const column = constraint.replace(`${table}_`, '').replace(/_fkey$/, '');
  const found = declaredReferences().find(
    (reference) => reference.table === table && reference.column === column,
  );
  if (!found) return 'An object that the request refers to was deleted meanwhile.';
  // A shared table is represented by the list of all its types.
  const list = resources().find(
    (definition) => definition.table === table && definition.variants !== undefined,
  );
  const from = nounOf(list ?? found.from);
  return `The ${nounOf(found.to)} that the ${from} refers to was deleted meanwhile.`;
}

const nounOf = ({ label }: ResourceDefinition): string => label.toLowerCase();

import { memberOf } from '../records.js';
import { resources, type Relation, type ResourceDefinition } from './define-resource.js';

/** Display names of both ends of a reference. */
interface Ends {
  from: string;
  to: string;
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
  const ends = endsOfField(table, column) ?? endsOfLink(table, column);
  return ends
    ? `The ${ends.to} that the ${ends.from} refers to was deleted meanwhile.`
    : 'An object that the request refers to was deleted meanwhile.';
}

const nounOf = ({ label }: ResourceDefinition): string => label.toLowerCase();

function endsOfField(table: string, column: string): Ends | undefined {
  const owners = resources().filter((resource) => resource.table === table);
  // A shared table is represented by the list of all its types.
  const owner = owners.find(({ variants }) => variants !== null) ?? owners[0];
  const field = owners.flatMap(({ fields }) => fields).find((field) => field.column === column);
  return owner && field?.target ? { from: nounOf(owner), to: nounOf(field.target()) } : undefined;
}

function endsOfLink(table: string, column: string): Ends | undefined {
  for (const definition of resources()) {
    const link = Object.values(definition.relations).find((relation) => isLink(relation, table));
    if (link?.kind !== 'many-to-many') continue;
    const [from, to] = [nounOf(definition), nounOf(link.target())];
    return column === link.sourceColumn ? { from: to, to: from } : { from, to };
  }
  return undefined;
}

const isLink = (relation: Relation, table: string): boolean =>
  relation.kind === 'many-to-many' && relation.table === table;

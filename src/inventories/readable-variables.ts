import { VariablesError } from '../common/fields/variables.js';
import { sql, type Sql } from '../database/sql.js';

/**
 * Maximum size of the variables that are read together, in bytes, as of a document that a source delivers: those
 * of all hosts, or of all groups, of an inventory. In memory, parsed variables are several times as large.
 */
export const MAX_VARIABLES_BYTES = 64 * 1024 * 1024;

/**
 * Returns the variables of a row, as an SQL value; null if the variables of all rows of the statement together
 * are too large.
 */
export const readableVariables = (variables: Sql): Sql => sql`
  CASE WHEN sum(octet_length(${variables})) OVER () <= ${MAX_VARIABLES_BYTES}::int
    THEN ${variables} END`;

/**
 * Returns the rows of a statement with `readableVariables`.
 *
 * @throws VariablesError if the variables are too large
 */
export function rowsWithVariables<Row extends { variables: string | null }>(
  rows: Row[],
): (Row & { variables: string })[] {
  if (haveVariables(rows)) return rows;
  throw tooLargeVariables();
}

export const tooLargeVariables = (): VariablesError =>
  new VariablesError(
    `The variables of the inventory are together larger than ${MAX_VARIABLES_BYTES} bytes.`,
  );

const haveVariables = <Row extends { variables: string | null }>(
  rows: Row[],
): rows is (Row & { variables: string })[] => rows.every(({ variables }) => variables !== null);

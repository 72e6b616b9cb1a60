import { sql, type Sql } from '../database/sql.js';
import type { HostEntry } from './host-entries.js';

/** Hosts of a request by column, as arrays for PostgreSQL; null: not sent. */
export interface HostColumns {
  /** Position of each host in the request. */
  place: number[];
  name: string[];
  description: (string | null)[];
  enabled: (boolean | null)[];
  instance_id: (string | null)[];
  variables: (string | null)[];
  /** Group names as JSON text; null without groups. */
  groups: (string | null)[];
}

export const emptyColumns = (): HostColumns => ({
  place: [],
  name: [],
  description: [],
  enabled: [],
  instance_id: [],
  variables: [],
  groups: [],
});

export function addHost(columns: HostColumns, place: number, entry: HostEntry): void {
  columns.place.push(place);
  columns.name.push(entry.name);
  columns.description.push(entry.description);
  columns.enabled.push(entry.enabled);
  columns.instance_id.push(entry.instance_id);
  columns.variables.push(entry.variables);
  columns.groups.push(entry.groups.length === 0 ? null : JSON.stringify(entry.groups));
}

/** Returns the hosts as a query with a column for each member of `HostColumns`. */
export const selectEntries = (columns: HostColumns): Sql => sql`
  SELECT * FROM unnest(${columns.place}::int[], ${columns.name}::text[],
    ${emptyIfNull(columns.description)}::text[], ${emptyIfNull(columns.enabled)}::boolean[],
    ${emptyIfNull(columns.instance_id)}::text[], ${emptyIfNull(columns.variables)}::text[],
    ${emptyIfNull(columns.groups)}::text[])
    AS given (place, name, description, enabled, instance_id, variables, groups)`;

/** Returns the columns of the hosts that are checked: place, name and groups. */
export const selectNames = ({ place, name, groups }: HostColumns): Sql => sql`
  SELECT * FROM unnest(${place}::int[], ${name}::text[], ${emptyIfNull(groups)}::text[])
    AS given (place, name, groups)`;

/** Returns an empty array if no host has a value: `unnest` fills shorter arrays with nulls. */
const emptyIfNull = <T>(column: readonly (T | null)[]): readonly (T | null)[] =>
  column.some((value) => value !== null) ? column : [];

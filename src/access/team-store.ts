import type { Actor } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import type { Sql } from '../database/sql.js';

export interface TeamRow extends Row {
  name: string;
  organization_id: number;
}

/**
 * Queries on teams for roles and credentials, which belong to a lower layer. Implemented by the teams
 * module.
 */
export abstract class TeamStore {
  /** @throws Error if no team has the id */
  abstract referenced(id: number): Promise<TeamRow>;
  /**
   * @returns query for `id`, `name` and `organization_name` of one team; names that the reader cannot see
   *   are null
   */
  abstract nameQuery(id: Sql, reader: Actor): Sql;
  /**
   * @returns query for the given teams that do not belong to the organization; for all given teams if the
   *   organization is null
   */
  abstract outsideOrganization(ids: Sql, organization: number | null): Sql;
}

import type { Actor } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import type { Sql } from '../database/sql.js';

export interface TeamRow extends Row {
  name: string;
  organization_id: number;
}

/** What roles and credentials need of teams, a room above them. Implemented by the teams module. */
export abstract class TeamStore {
  /** @throws BrokenInvariant for an id that no reference leads to */
  abstract referenced(id: number): Promise<TeamRow>;
  /** @returns query for `id`, `name` and `organization_name` of one team, names as far as the reader may see */
  abstract named(id: Sql, reader: Actor): Sql;
  /** @returns query for some teams that do not belong to an organization; to none, when it is null */
  abstract outside(ids: Sql, organization: number | null): Sql;
}

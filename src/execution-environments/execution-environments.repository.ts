import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { ExecutionEnvironment } from './execution-environment.entity.js';

/** Returns a query that has a row if and only if an execution environment exists. */
export const anyEnvironment = (): Sql => sql`SELECT 1 FROM execution_environments LIMIT 1`;

/** Returns a query for execution environments, for joins in statements about other tables. */
export const allEnvironments = (): Sql =>
  sql`SELECT id, name, description, image, pull, credential_id, organization_id FROM execution_environments`;

@Injectable()
export class ExecutionEnvironmentsRepository extends TableRepository<RowOf<ExecutionEnvironment>> {
  constructor(
    @InjectRepository(ExecutionEnvironment) repository: Repository<ExecutionEnvironment>,
  ) {
    super(repository);
  }

  /**
   * Returns execution environments, and locks them against deletion.
   *
   * @param actor caller; null: no permission check
   */
  usable(
    ids: readonly number[],
    actor: Actor | null,
  ): Promise<{ id: number; name: string; may_use: boolean }[]> {
    return this.database.preparedRows(sql`
      SELECT e.id, e.name, (${permitOrAny('execution_environment', 'read', 'e', actor)}) AS may_use
      FROM execution_environments e WHERE e.id = ANY(${ids}::int[]) FOR KEY SHARE`);
  }
}

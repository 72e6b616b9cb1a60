import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allInventories } from '../inventories/inventories.repository.js';
import type { User } from '../users/user.entity.js';
import { userNames } from '../users/users.repository.js';
import type { AdHocCommand } from './ad-hoc-command.entity.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';

/** A command with the data of its run. Objects that were deleted since the launch are null. */
export type CommandContext = Pick<
  RowOf<AdHocCommand>,
  | 'id'
  | 'launch_type'
  | 'cancel_requested'
  | 'job_type'
  | 'inventory_id'
  | 'credential_id'
  | 'limit'
  | 'module_name'
  | 'module_args'
  | 'forks'
  | 'verbosity'
  | 'extra_vars'
  | 'become_enabled'
  | 'diff_mode'
  | 'start_args'
> & {
  inventory_name: string | null;
  user: Pick<RowOf<User>, 'id' | 'username' | 'email' | 'first_name' | 'last_name'> | null;
};

/** Loads ad hoc commands with the data that workers need. */
@Injectable()
export class AdHocCommandsRepository extends TableRepository<RowOf<AdHocCommand>> {
  constructor(@InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>) {
    super(repository);
  }

  /**
   * Loads a command in one statement.
   *
   * @throws Error for a command that does not exist
   */
  async context(id: number): Promise<CommandContext> {
    return this.database.rowOrFail<CommandContext>(sql`
      SELECT command.id, command.launch_type, command.cancel_requested, command.job_type,
        command.inventory_id, inventory.name AS inventory_name, command.credential_id,
        command."limit", command.module_name, command.module_args, command.forks,
        command.verbosity, command.extra_vars, command.become_enabled, command.diff_mode,
        command.start_args,
        CASE WHEN author.id IS NOT NULL THEN to_json(author) END AS user
      FROM unified_jobs command
      LEFT JOIN (${allInventories()}) inventory ON inventory.id = command.inventory_id
      LEFT JOIN (${userNames()}) author ON author.id = command.created_by_id
      WHERE command.id = ${id}`);
  }
}

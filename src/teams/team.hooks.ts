import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { RoleTeamsRepository } from '../access/role-teams.repository.js';
import { RolesRepository } from '../access/roles.repository.js';
import type { Actor } from '../common/access.js';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import type { Team } from './team.entity.js';

@Injectable()
export class TeamHooks implements ResourceHooks<Team> {
  constructor(
    private readonly grants: RoleTeamsRepository,
    private readonly roles: RolesRepository,
  ) {}

  /**
   * Lets only superusers move a team to another organization. Refuses to move a team with a role on a
   * credential: administrators of the other organization could then use the credential.
   */
  async prepareUpdate(row: RowOf<Team>, values: ValuesOf<Team>, actor: Actor): Promise<void> {
    if (!('organization' in values)) return;
    if (!actor.isSuperuser) throw new Forbidden('Unable to change organization on a team.');
    const granted = (await this.grants.grantsTo([row.id])).map(({ role_id: id }) => id);
    if (await this.roles.existsBy({ id: In(granted), content_type: 'credential' })) {
      throw Invalid.field('organization', 'The team has roles on credentials of its organization.');
    }
  }
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Forbidden } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import type { Team } from './team.entity.js';

@Injectable()
export class TeamHooks implements ResourceHooks<Team> {
  /** Prevents all callers except superusers from moving a team to another organization. */
  async prepareUpdate(_row: RowOf<Team>, values: ValuesOf<Team>, actor: Actor): Promise<void> {
    if ('organization' in values && !actor.isSuperuser) {
      throw new Forbidden('Unable to change organization on a team.');
    }
  }
}

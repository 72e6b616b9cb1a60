import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Forbidden } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { ResourceHooks, Values } from '../common/rest/hooks.js';

@Injectable()
export class TeamHooks implements ResourceHooks {
  /** Only a superuser may move a team to another organization. */
  async prepareUpdate(_row: Row, values: Values, actor: Actor): Promise<void> {
    if ('organization' in values && !actor.isSuperuser) {
      throw new Forbidden('Unable to change organization on a team.');
    }
  }
}

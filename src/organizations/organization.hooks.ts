import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Invalid } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/held-by.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import type { Organization } from './organization.entity.js';

@Injectable()
export class OrganizationHooks implements ResourceHooks<Organization> {
  constructor(private readonly runs: ActiveRunsQuery) {}

  async prepareUpdate(
    _row: RowOf<Organization>,
    values: ValuesOf<Organization>,
    actor: Actor,
  ): Promise<void> {
    if ('max_hosts' in values && !actor.isSuperuser) throw Invalid.all('Cannot change max_hosts.');
  }

  async prepareDelete(row: RowOf<Organization>): Promise<void> {
    await assertNoActiveRuns(this.runs, ['organization_id'], [row.id]);
  }
}

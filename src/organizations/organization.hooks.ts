import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { Actor } from '../common/access.js';
import { Invalid } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { assertNoActiveRuns } from '../common/resource/held-by.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import type { OrganizationSchema } from './organization.schema.js';

@Injectable()
export class OrganizationHooks implements ResourceHooks<OrganizationSchema> {
  constructor(private readonly database: Database) {}

  async prepareUpdate(
    _row: RowOf<OrganizationSchema>,
    values: ValuesOf<OrganizationSchema>,
    actor: Actor,
  ): Promise<void> {
    if ('max_hosts' in values && !actor.isSuperuser) throw Invalid.all('Cannot change max_hosts.');
  }

  async prepareDelete(row: RowOf<OrganizationSchema>): Promise<void> {
    await assertNoActiveRuns(this.database, sql`organization_id = ${row.id}`);
  }
}

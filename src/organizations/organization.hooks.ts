import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { Actor } from '../common/access.js';
import { Invalid } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { assertNoActiveRuns } from '../common/resource/held-by.js';
import type { ResourceHooks, Values } from '../common/rest/hooks.js';

@Injectable()
export class OrganizationHooks implements ResourceHooks {
  constructor(private readonly database: Database) {}

  async prepareUpdate(_row: Row, values: Values, actor: Actor): Promise<void> {
    if ('max_hosts' in values && !actor.isSuperuser) throw Invalid.all('Cannot change max_hosts.');
  }

  async prepareDelete(row: Row): Promise<void> {
    await assertNoActiveRuns(this.database, sql`organization_id = ${row.id}`);
  }
}

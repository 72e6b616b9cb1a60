import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Invalid } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/dependents.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { ExecutionEnvironmentHooks } from '../execution-environments/execution-environment.hooks.js';
import { ExecutionEnvironmentsRepository } from '../execution-environments/execution-environments.repository.js';
import { InventoriesRepository } from '../inventories/inventories.repository.js';
import type { Organization } from './organization.entity.js';

const FOREIGN_ENVIRONMENT = 'The execution environment does not belong to this organization.';

@Injectable()
export class OrganizationHooks implements ResourceHooks<Organization> {
  constructor(
    private readonly runs: ActiveRunsQuery,
    private readonly environments: ExecutionEnvironmentsRepository,
    private readonly environmentHooks: ExecutionEnvironmentHooks,
    private readonly inventories: InventoriesRepository,
  ) {}

  prepareCreate(values: ValuesOf<Organization>): Promise<void> {
    return this.assertOwnEnvironment(values, null);
  }

  async prepareUpdate(
    { id }: RowOf<Organization>,
    values: ValuesOf<Organization>,
    actor: Actor,
  ): Promise<void> {
    if ('max_hosts' in values && !actor.isSuperuser) throw Invalid.all('Cannot change max_hosts.');
    await this.assertOwnEnvironment(values, id);
  }

  async prepareDelete(row: RowOf<Organization>): Promise<void> {
    await assertNoActiveRuns(this.runs, ['organization_id'], [row.id]);
    // Runs of templates of other organizations can use these inventories.
    const inventories = await this.inventories.lockOfOrganization(row.id);
    await assertNoActiveRuns(this.runs, ['inventory_id'], inventories);
    const environments = await this.environments.findBy({ organization_id: row.id });
    await this.environmentHooks.assertNoDefault(environments);
  }

  /** @throws Invalid for an execution environment of another organization */
  private async assertOwnEnvironment(
    { default_environment: environment }: ValuesOf<Organization>,
    id: number | null,
  ): Promise<void> {
    if (typeof environment !== 'number') return;
    const row = await this.environments.findOneBy({ id: environment });
    const organization = row?.organization_id ?? null;
    if (organization !== null && organization !== id)
      throw Invalid.field('default_environment', FOREIGN_ENVIRONMENT);
  }
}

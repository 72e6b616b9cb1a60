import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { OrganizationNotifications } from '../notifications/organization-notifications.js';
import type { HostAllowance, OrganizationStore } from '../inventories/organization-store.js';
import { Organization } from './organization.entity.js';

/**
 * Returns the name of an organization as an SQL value; null if the reader cannot see the organization.
 */
export const organizationNameOf = (id: Sql, reader: Actor): Sql => sql`(
  SELECT org.name FROM organizations org
  WHERE org.id = ${id} AND ${permit(resource('organization').policy, 'read', 'org', reader)})`;

/** Returns the condition that an organization exists. */
export const organizationExists = (id: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM organizations org WHERE org.id = ${id})`;

/** Returns a query for the default execution environments of organizations. */
export const defaultEnvironments = (): Sql =>
  sql`SELECT id, default_environment_id FROM organizations`;

/** Returns a query that has a row only if there is more than one organization. */
export const severalOrganizations = (): Sql => sql`SELECT 1 FROM organizations OFFSET 1 LIMIT 1`;

@Injectable()
export class OrganizationsRepository
  extends TableRepository<RowOf<Organization>>
  implements OrganizationStore, OrganizationNotifications
{
  constructor(@InjectRepository(Organization) repository: Repository<Organization>) {
    super(repository);
  }

  byName(name: string): Promise<RowOf<Organization> | undefined> {
    return this.database.row<RowOf<Organization>>(
      sql`SELECT * FROM organizations WHERE name = ${name}`,
    );
  }

  async attachGalaxyCredential(organization: number, credential: number): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO organization_galaxy_credentials (organization_id, credential_id)
      VALUES (${organization}, ${credential}) ON CONFLICT DO NOTHING`);
  }

  /** Returns the ids of the credentials of an organization's content servers, in order of precedence. */
  galaxyCredentials(organization: number): Promise<number[]> {
    return this.database.ids(sql`
      SELECT credential_id AS id FROM organization_galaxy_credentials lnk
      WHERE organization_id = ${organization} ORDER BY lnk.id`);
  }

  notificationLinks(): Sql {
    return sql`
      SELECT organization_id, event, notification_template_id FROM organization_notifications`;
  }

  lockAllowance(organization: Sql): Promise<HostAllowance | undefined> {
    return this.database.preparedRow(sql`
      SELECT id, max_hosts FROM organizations
      WHERE id = (${organization}) AND max_hosts > 0 FOR NO KEY UPDATE`);
  }
}

/** Returns a query for the retention of organizations: `id`, `retention_days`, `retention_runs`. */
export const retentionOfOrganizations = (): Sql => sql`
  SELECT id, retention_days, retention_runs FROM organizations`;

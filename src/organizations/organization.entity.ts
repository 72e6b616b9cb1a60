import { Entity, Index, Column } from 'typeorm';
import { Includes, Integer, Reference } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { RetentionFields } from '../templates/retention.schema.js';
import { LinkRow, LinkTo } from '../database/table.js';

export interface Organization extends RetentionFields {}

@Entity('organizations')
@Index('organizations_name_key', ['name'], { unique: true })
@Includes(RetentionFields)
export class Organization extends NamedEntity {
  @Integer({
    min: 0,
    default: 0,
    help: 'Maximum number of hosts of the organization; 0: no limit. Set by superusers.',
  })
  max_hosts!: number;

  @Reference('execution_environment', {
    nullable: true,
    index: 'where set',
    help: 'Execution environment of runs without one of their own.',
  })
  default_environment!: Reference | null;
}

/** Galaxy credential of an organization. Servers are used in the order of the ids of these rows. */
@Entity('organization_galaxy_credentials')
@Index('organization_galaxy_credentials_key', ['organization_id', 'credential_id'], {
  unique: true,
})
export class OrganizationGalaxyCredential extends LinkRow {
  @LinkTo('organizations')
  organization_id!: number;

  @LinkTo('credentials', { index: true })
  credential_id!: number;
}

@Entity('organization_notifications')
@Index('organization_notifications_key', ['organization_id', 'notification_template_id', 'event'], {
  unique: true,
})
export class OrganizationNotification extends LinkRow {
  @LinkTo('organizations')
  organization_id!: number;

  @LinkTo('notification_templates', { index: true })
  notification_template_id!: number;

  @Column('text')
  event!: string;
}

import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, LinkRow } from '../database/table.js';

/** Galaxy credential of an organization, in the order of ids. */
@Entity('organization_galaxy_credentials')
@Index('organization_galaxy_credentials_key', ['organization_id', 'credential_id'], {
  unique: true,
})
export class OrganizationGalaxyCredential extends LinkRow {
  @Column('integer')
  @ForeignKey('organizations', CASCADE)
  organization_id!: number;

  @Column('integer')
  @ForeignKey('credentials', CASCADE)
  @Index()
  credential_id!: number;
}

/** Instance group of an organization; the order of ids is that of preference. */
@Entity('organization_instance_groups')
@Index('organization_instance_groups_key', ['organization_id', 'instance_group_id'], {
  unique: true,
})
export class OrganizationInstanceGroup extends LinkRow {
  @Column('integer')
  @ForeignKey('organizations', CASCADE)
  organization_id!: number;

  @Column('integer')
  @ForeignKey('instance_groups', CASCADE)
  @Index()
  instance_group_id!: number;
}

/** Notification template of an organization for one event. */
@Entity('organization_notifications')
@Index('organization_notifications_key', ['organization_id', 'notification_template_id', 'event'], {
  unique: true,
})
export class OrganizationNotification extends LinkRow {
  @Column('integer')
  @ForeignKey('organizations', CASCADE)
  organization_id!: number;

  @Column('integer')
  @ForeignKey('notification_templates', CASCADE)
  @Index()
  notification_template_id!: number;

  @Column('text')
  event!: string;
}

import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, LinkRow } from '../database/table.js';

/** Credential of the jobs that a schedule launches. */
@Entity('schedule_credentials')
@Index('schedule_credentials_key', ['schedule_id', 'credential_id'], { unique: true })
export class ScheduleCredential extends LinkRow {
  @Column('integer')
  @ForeignKey('schedules', CASCADE)
  schedule_id!: number;

  @Column('integer')
  @ForeignKey('credentials', CASCADE)
  @Index()
  credential_id!: number;
}

/** Label of the jobs that a schedule launches. */
@Entity('schedule_labels')
@Index('schedule_labels_key', ['schedule_id', 'label_id'], { unique: true })
export class ScheduleLabel extends LinkRow {
  @Column('integer')
  @ForeignKey('schedules', CASCADE)
  schedule_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}

/** Instance group of a schedule; the order of ids is that of preference. */
@Entity('schedule_instance_groups')
@Index('schedule_instance_groups_key', ['schedule_id', 'instance_group_id'], { unique: true })
export class ScheduleInstanceGroup extends LinkRow {
  @Column('integer')
  @ForeignKey('schedules', CASCADE)
  schedule_id!: number;

  @Column('integer')
  @ForeignKey('instance_groups', CASCADE)
  @Index()
  instance_group_id!: number;
}

import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, LinkRow } from '../database/table.js';

/** Credential of a job template. */
@Entity('job_template_credentials')
@Index('job_template_credentials_key', ['job_template_id', 'credential_id'], { unique: true })
export class JobTemplateCredential extends LinkRow {
  @Column('integer')
  @ForeignKey('unified_job_templates', CASCADE)
  job_template_id!: number;

  @Column('integer')
  @ForeignKey('credentials', CASCADE)
  @Index()
  credential_id!: number;
}

/** Label of a job template. */
@Entity('job_template_labels')
@Index('job_template_labels_key', ['job_template_id', 'label_id'], { unique: true })
export class JobTemplateLabel extends LinkRow {
  @Column('integer')
  @ForeignKey('unified_job_templates', CASCADE)
  job_template_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}

/** Instance group of a job template; the order of ids is that of preference. */
@Entity('job_template_instance_groups')
@Index('job_template_instance_groups_key', ['job_template_id', 'instance_group_id'], {
  unique: true,
})
export class JobTemplateInstanceGroup extends LinkRow {
  @Column('integer')
  @ForeignKey('unified_job_templates', CASCADE)
  job_template_id!: number;

  @Column('integer')
  @ForeignKey('instance_groups', CASCADE)
  @Index()
  instance_group_id!: number;
}

import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, WideLinkRow } from '../database/table.js';

/** Credential of a job. */
@Entity('job_credentials')
@Index('job_credentials_key', ['job_id', 'credential_id'], { unique: true })
export class JobCredential extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('unified_jobs', CASCADE)
  job_id!: number;

  @Column('integer')
  @ForeignKey('credentials', CASCADE)
  @Index()
  credential_id!: number;
}

/** Label of a job. */
@Entity('job_labels')
@Index('job_labels_key', ['job_id', 'label_id'], { unique: true })
export class JobLabel extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('unified_jobs', CASCADE)
  job_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}

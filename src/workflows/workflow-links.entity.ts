import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, WideLinkRow } from '../database/table.js';

/** Label of a workflow job. */
@Entity('workflow_job_labels')
@Index('workflow_job_labels_key', ['workflow_job_id', 'label_id'], { unique: true })
export class WorkflowJobLabel extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('unified_jobs', CASCADE)
  workflow_job_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}

/** Credential prompt of a node. */
@Entity('workflow_job_node_credentials')
@Index('workflow_job_node_credentials_key', ['workflow_job_node_id', 'credential_id'], {
  unique: true,
})
export class WorkflowJobNodeCredential extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('workflow_job_nodes', CASCADE)
  workflow_job_node_id!: number;

  @Column('integer')
  @ForeignKey('credentials', CASCADE)
  @Index()
  credential_id!: number;
}

/** Label prompt of a node. */
@Entity('workflow_job_node_labels')
@Index('workflow_job_node_labels_key', ['workflow_job_node_id', 'label_id'], { unique: true })
export class WorkflowJobNodeLabel extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('workflow_job_nodes', CASCADE)
  workflow_job_node_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}

/** Instance group prompt of a node. */
@Entity('workflow_job_node_instance_groups')
@Index('workflow_job_node_instance_groups_key', ['workflow_job_node_id', 'instance_group_id'], {
  unique: true,
})
export class WorkflowJobNodeInstanceGroup extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('workflow_job_nodes', CASCADE)
  workflow_job_node_id!: number;

  @Column('integer')
  @ForeignKey('instance_groups', CASCADE)
  @Index()
  instance_group_id!: number;
}

/** Edge of a workflow job, of the kind `success`, `failure` or `always`. */
@Entity('workflow_job_node_edges')
@Index('workflow_job_node_edges_key', ['parent_id', 'child_id', 'kind'], { unique: true })
export class WorkflowJobNodeEdge extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('workflow_job_nodes', CASCADE)
  parent_id!: number;

  @Column('bigint')
  @ForeignKey('workflow_job_nodes', CASCADE)
  @Index()
  child_id!: number;

  @Column('text')
  kind!: string;
}

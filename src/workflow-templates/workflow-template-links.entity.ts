import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CASCADE, LinkRow } from '../database/table.js';

/** Label of a workflow job template. */
@Entity('workflow_job_template_labels')
@Index('workflow_job_template_labels_key', ['workflow_job_template_id', 'label_id'], {
  unique: true,
})
export class WorkflowTemplateLabel extends LinkRow {
  @Column('integer')
  @ForeignKey('unified_job_templates', CASCADE)
  workflow_job_template_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}

/** Credential prompt of a node. */
@Entity('workflow_template_node_credentials')
@Index('workflow_template_node_credentials_key', ['node_id', 'credential_id'], { unique: true })
export class WorkflowTemplateNodeCredential extends LinkRow {
  @Column('integer')
  @ForeignKey('workflow_job_template_nodes', CASCADE)
  node_id!: number;

  @Column('integer')
  @ForeignKey('credentials', CASCADE)
  @Index()
  credential_id!: number;
}

/** Label prompt of a node. */
@Entity('workflow_template_node_labels')
@Index('workflow_template_node_labels_key', ['node_id', 'label_id'], { unique: true })
export class WorkflowTemplateNodeLabel extends LinkRow {
  @Column('integer')
  @ForeignKey('workflow_job_template_nodes', CASCADE)
  node_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}

/** Instance group prompt of a node. */
@Entity('workflow_template_node_instance_groups')
@Index('workflow_template_node_instance_groups_key', ['node_id', 'instance_group_id'], {
  unique: true,
})
export class WorkflowTemplateNodeInstanceGroup extends LinkRow {
  @Column('integer')
  @ForeignKey('workflow_job_template_nodes', CASCADE)
  node_id!: number;

  @Column('integer')
  @ForeignKey('instance_groups', CASCADE)
  @Index()
  instance_group_id!: number;
}

/** Edge of a workflow job template. Two nodes have at most one edge. */
@Entity('workflow_job_template_node_edges')
export class WorkflowTemplateNodeEdge {
  @PrimaryColumn('integer')
  @ForeignKey('workflow_job_template_nodes', CASCADE)
  parent_id!: number;

  @PrimaryColumn('integer')
  @ForeignKey('workflow_job_template_nodes', CASCADE)
  @Index()
  child_id!: number;

  /** Kind of the edge: `success`, `failure` or `always`. */
  @Column('text')
  kind!: string;
}

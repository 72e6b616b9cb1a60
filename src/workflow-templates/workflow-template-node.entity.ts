import { Entity, Index, Column, ForeignKey, PrimaryColumn } from 'typeorm';
import { Bool, Char, Includes, Json, Reference, References } from '../common/fields/field.js';
import { ResourceEntity } from '../common/resource/resource.entity.js';
import type { SavedOptions } from '../prompts/launch-options.js';
import { SAVED_OPTIONS } from '../prompts/prompt-columns.js';
import { CASCADE, LinkRow } from '../database/table.js';

export interface WorkflowTemplateNode extends SavedOptions {}

/**
 * One node of a workflow job template, with its template, its prompts and its children
 * (docs/contract/workflows.md#nodes).
 */
@Entity('workflow_job_template_nodes')
@Index('workflow_job_template_nodes_identifier_key', ['workflow_job_template_id', 'identifier'], {
  unique: true,
})
@Includes(SAVED_OPTIONS, 'extra_data')
export class WorkflowTemplateNode extends ResourceEntity {
  @Reference('workflow_job_template', {
    required: true,
    immutable: true,
    needs: 'change',
    index: false,
    help: 'The workflow the node is part of.',
  })
  workflow_job_template!: Reference;

  @Reference('unified_job_template', {
    label: 'Template',
    nullable: true,
    needs: 'launch',
    help: 'Template that the node launches.',
  })
  unified_job_template!: Reference | null;

  @Char({ help: 'Name of the node within its workflow; one is made up where none is given.' })
  identifier!: string;

  @Bool({ help: 'Every parent must end the way its edge says, not only one of them.' })
  all_parents_must_converge!: boolean;

  /** Contains masked secret answers; `survey_passwords` contains the sealed ones. */
  @Json({ help: 'Variables of the node.', anyShape: true })
  extra_data!: Record<string, unknown>;

  @References('workflow_job_template_node', {
    readOnly: true,
    help: 'Ids of the nodes that run after success.',
  })
  success_nodes!: number[];

  @References('workflow_job_template_node', {
    readOnly: true,
    help: 'Ids of the nodes that run after failure.',
  })
  failure_nodes!: number[];

  @References('workflow_job_template_node', {
    readOnly: true,
    help: 'Ids of the nodes that run in any case.',
  })
  always_nodes!: number[];

  /** Secret answers in `extra_data`, each sealed for this row and its variable. */
  @Json({ internal: true })
  survey_passwords!: Record<string, string>;
}

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

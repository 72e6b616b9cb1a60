import { Entity, Index } from 'typeorm';
import {
  Bool,
  Char,
  Includes,
  Integer,
  Json,
  Reference,
  References,
} from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { ResourceEntity } from '../common/resource/resource.entity.js';
import type { SavedOptions } from '../prompts/launch-options.js';
import { SAVED_OPTIONS } from '../prompts/prompt-columns.js';

const EDGES = { readOnly: true, help: 'Ids of the nodes that follow.' } as const;

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
  @Reference(() => resource('workflow_job_template'), {
    required: true,
    immutable: true,
    needs: 'change',
    index: false,
    help: 'The workflow the node is part of.',
  })
  workflow_job_template!: Reference;

  @Reference(() => resource('unified_job_template'), {
    label: 'Template',
    nullable: true,
    needs: 'launch',
    help: 'What the node runs.',
  })
  unified_job_template!: Reference | null;

  @Char({ help: 'Name of the node within its workflow; one is made up where none is given.' })
  identifier!: string;

  @Bool({ help: 'Every parent must end the way its edge says, not only one of them.' })
  all_parents_must_converge!: boolean;

  /** Contains masked secret answers; `survey_passwords` contains the sealed ones. */
  @Json({ help: 'Variables of the node.', anyShape: true })
  extra_data!: Record<string, unknown>;

  @Integer({ nullable: true, min: 1, column: null, filter: false })
  execution_environment!: number | null;

  @References(() => resource('workflow_job_template_node'), EDGES)
  success_nodes!: number[];

  @References(() => resource('workflow_job_template_node'), EDGES)
  failure_nodes!: number[];

  @References(() => resource('workflow_job_template_node'), EDGES)
  always_nodes!: number[];

  /** Secret answers in `extra_data`, each sealed for this row and its variable. */
  @Json({ internal: true })
  survey_passwords!: Record<string, string>;
}

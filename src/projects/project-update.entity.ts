import { Bool, Char, Choices, Includes, Integer, Reference, Text } from '../common/fields/field.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import { ISOLATIONS } from '../instances/isolation.js';
import { ExecutedJob, RUN_FIELDS } from '../runs/unified-job.entity.js';
import { WebhookRunFields } from '../runs/webhook-run.schema.js';
import { SCM_TYPES } from './project.entity.js';

export interface ProjectUpdate extends WebhookRunFields {}

/**
 * One sync of a project, with the project's options as of its start
 * (docs/contract/runs.md#project-updates).
 */
@ReadOnly()
@Includes(WebhookRunFields)
export class ProjectUpdate extends ExecutedJob {
  @Reference('project', { nullable: true, help: 'Project that is updated.' })
  project!: Reference | null;

  @Choices(SCM_TYPES, { help: 'Kind of source control.' })
  scm_type!: string;

  @Char({ max: 1024, help: 'Address of the repository or archive.' })
  scm_url!: string;

  @Char({ max: 1024, help: 'Branch, tag or commit.' })
  scm_branch!: string;

  @Char({ max: 1024, help: 'Further references that are fetched.' })
  scm_refspec!: string;

  @Bool({ help: 'If true, local changes are discarded before the update.' })
  scm_clean!: boolean;

  @Bool({ help: 'If true, the checkout is deleted before the update.' })
  scm_delete_on_update!: boolean;

  @Bool({ help: 'If true, submodules follow their branches.' })
  scm_track_submodules!: boolean;

  @Reference('credential', {
    nullable: true,
    index: 'where set',
    help: 'Source control credential.',
  })
  credential!: Reference | null;

  @Reference('execution_environment', {
    nullable: true,
    index: false,
    help: 'Execution environment of the update; null for the default.',
  })
  execution_environment!: Reference | null;

  @Char({ max: 1024, help: 'Folder of the project below the project root.' })
  local_path!: string;

  @Integer(RUN_FIELDS.timeout)
  timeout!: number;

  @Char({ max: 1024, help: 'Revision of the project.' })
  scm_revision!: string;

  @Choices(ISOLATIONS, RUN_FIELDS.isolation)
  isolation!: string;

  @Choices(
    [
      ['check', 'Check'],
      ['run', 'Run'],
    ],
    { default: 'check', help: 'Check for an update, or a run that a job needs.' },
  )
  job_type!: string;

  @Text({ help: 'Comma-separated tags to run.' })
  job_tags!: string;
}

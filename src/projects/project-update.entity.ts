import { Bool, Char, Choices, Includes, Integer, Reference, Text } from '../common/fields/field.js';
import { ISOLATIONS } from '../instances/isolation.js';
import { ExecutedJob, ISOLATION_FIELD } from '../runs/unified-job.entity.js';
import { WebhookRunFields } from '../runs/webhook-run.schema.js';

const READ_ONLY = { readOnly: true } as const;

export interface ProjectUpdate extends WebhookRunFields {}

/**
 * One sync of a project, with the project's options as of its start
 * (docs/contract/runs.md#project-updates).
 */
@Includes(WebhookRunFields)
export class ProjectUpdate extends ExecutedJob {
  @Reference('project', { ...READ_ONLY, nullable: true, help: 'Project that is updated.' })
  project!: Reference | null;

  @Choices(
    [
      ['', 'Manual'],
      ['git', 'Git'],
      ['svn', 'Subversion'],
      ['archive', 'Remote Archive'],
    ],
    { ...READ_ONLY, help: 'Kind of source control.' },
  )
  scm_type!: string;

  @Char({ ...READ_ONLY, max: 1024, help: 'Address of the repository or archive.' })
  scm_url!: string;

  @Char({ ...READ_ONLY, max: 1024, help: 'Branch, tag or commit.' })
  scm_branch!: string;

  @Char({ ...READ_ONLY, max: 1024, help: 'Further references that are fetched.' })
  scm_refspec!: string;

  @Bool({ ...READ_ONLY, help: 'If true, local changes are discarded before the update.' })
  scm_clean!: boolean;

  @Bool({ ...READ_ONLY, help: 'If true, the checkout is deleted before the update.' })
  scm_delete_on_update!: boolean;

  @Bool({ ...READ_ONLY, help: 'If true, submodules follow their branches.' })
  scm_track_submodules!: boolean;

  @Reference('credential', {
    ...READ_ONLY,
    nullable: true,
    index: 'where set',
    help: 'Source control credential.',
  })
  credential!: Reference | null;

  @Reference('execution_environment', {
    ...READ_ONLY,
    nullable: true,
    index: false,
    help: 'Execution environment of the update; null for the default.',
  })
  execution_environment!: Reference | null;

  @Char({ ...READ_ONLY, max: 1024, help: 'Folder of the project below the project root.' })
  local_path!: string;

  @Integer({
    ...READ_ONLY,
    default: 0,
    help: 'Seconds until the run is canceled; 0 for the setting, -1 for no limit.',
  })
  timeout!: number;

  @Char({ ...READ_ONLY, max: 1024, help: 'Revision of the project.' })
  scm_revision!: string;

  @Choices(ISOLATIONS, ISOLATION_FIELD)
  isolation!: string;

  @Choices(
    [
      ['check', 'Check'],
      ['run', 'Run'],
    ],
    { ...READ_ONLY, default: 'check', help: 'Check for an update, or a run that a job needs.' },
  )
  job_type!: string;

  @Text({ ...READ_ONLY, help: 'Comma-separated tags to run.' })
  job_tags!: string;
}

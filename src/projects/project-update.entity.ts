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
  @Reference('project', { ...READ_ONLY, nullable: true })
  project!: Reference | null;

  @Choices(
    [
      ['', 'Manual'],
      ['git', 'Git'],
      ['svn', 'Subversion'],
      ['archive', 'Remote Archive'],
    ],
    READ_ONLY,
  )
  scm_type!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  scm_url!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  scm_branch!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  scm_refspec!: string;

  @Bool(READ_ONLY)
  scm_clean!: boolean;

  @Bool(READ_ONLY)
  scm_delete_on_update!: boolean;

  @Bool(READ_ONLY)
  scm_track_submodules!: boolean;

  @Reference('credential', {
    ...READ_ONLY,
    nullable: true,
    index: 'where set',
  })
  credential!: Reference | null;

  @Char({ ...READ_ONLY, max: 1024 })
  local_path!: string;

  @Integer({ ...READ_ONLY, default: 0 })
  timeout!: number;

  @Char({ ...READ_ONLY, max: 1024 })
  scm_revision!: string;

  @Choices(ISOLATIONS, ISOLATION_FIELD)
  isolation!: string;

  @Choices(
    [
      ['check', 'Check'],
      ['run', 'Run'],
    ],
    { ...READ_ONLY, default: 'check' },
  )
  job_type!: string;

  @Text(READ_ONLY)
  job_tags!: string;
}

import { Bool, Char, Choices, Includes, Integer, Json, Reference } from '../common/fields/field.js';
import { TemplateStatus, UnifiedTemplate } from '../templates/unified-template.entity.js';
import { WebhookTemplateFields } from '../templates/webhook-template.schema.js';

/** Values of `scm_type` with their labels. */
export const SCM_TYPES = [
  ['', 'Manual'],
  ['git', 'Git'],
  ['svn', 'Subversion'],
  ['archive', 'Remote Archive'],
] as const;

export interface Project extends WebhookTemplateFields {}

@Includes(WebhookTemplateFields)
export class Project extends UnifiedTemplate {
  @TemplateStatus('never updated')
  override status!: string;

  @Reference('organization', {
    nullable: true,
    needs: 'project_admin',
    help: 'Organization the project belongs to.',
  })
  organization!: Reference | null;

  @Choices(SCM_TYPES, {
    help: 'Kind of source control; empty for files that users copy to the server.',
  })
  scm_type!: string;

  @Char({ max: 1024, label: 'SCM URL', help: 'URL of the repository.' })
  scm_url!: string;

  @Char({ max: 256, help: 'Branch, tag or commit; of Subversion a revision.' })
  scm_branch!: string;

  @Char({ max: 1024, help: 'Additional refs to fetch, such as the refs of pull requests.' })
  scm_refspec!: string;

  @Bool({ help: 'Discard local changes before syncing.' })
  scm_clean!: boolean;

  @Bool({ help: 'Delete the checkout before syncing.' })
  scm_delete_on_update!: boolean;

  @Bool({ help: 'Track the latest commits of submodules.' })
  scm_track_submodules!: boolean;

  @Reference('credential', {
    nullable: true,
    needs: 'use',
    help: 'Source control credential.',
  })
  credential!: Reference | null;

  @Reference('credential', {
    nullable: true,
    needs: 'use',
    index: 'where set',
    help: 'GPG Public Key credential; updates and jobs check that its key has signed the files.',
  })
  signature_validation_credential!: Reference | null;

  @Char({ max: 1024, help: 'Folder below the project root; chosen for synced projects.' })
  local_path!: string;

  @Integer({ min: 0, default: 0, help: 'Seconds an update may take; 0 is the default setting.' })
  timeout!: number;

  @Char({ readOnly: true, max: 1024, help: 'Revision of the last sync.' })
  scm_revision!: string;

  @Bool({ help: 'Sync before each job that uses the project.' })
  scm_update_on_launch!: boolean;

  @Integer({ min: 0, default: 0, help: 'Seconds for which a sync counts as fresh.' })
  scm_update_cache_timeout!: number;

  @Bool({ help: 'Allow templates and webhooks to choose the branch or ref.' })
  allow_override!: boolean;

  @Reference('execution_environment', {
    nullable: true,
    index: 'where set',
    help: 'Execution environment of jobs whose template has none; it also installs the requirements of the project.',
  })
  default_environment!: Reference | null;

  /** Playbooks that the last sync found. */
  @Json({ internal: true, default: [] })
  playbook_files!: string[];

  @Json({ internal: true, default: [] })
  inventory_files!: string[];
}

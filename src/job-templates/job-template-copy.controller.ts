import type { Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { CopyController } from '../common/rest/copy.controller.js';
import type { Values } from '../common/rest/hooks.js';
import { Resource } from '../common/rest/resource.controller.js';
import { isPermitted } from '../common/rest/sublist-requests.js';
import { INHERITED_RETENTION } from '../templates/retention.schema.js';
import { SurveyService } from '../templates/survey.service.js';
import { JobTemplatesRepository } from './job-templates.repository.js';
import { jobTemplates } from './job-templates.resource.js';

@Resource(jobTemplates, 'api/v2/job_templates/:id/copy')
export class JobTemplateCopyController extends CopyController {
  constructor(
    private readonly templates: JobTemplatesRepository,
    private readonly surveys: SurveyService,
  ) {
    super();
  }

  /** Secrets of the template are copied only for callers who could change the template. */
  protected override async replacedValues(original: Row, actor: Actor): Promise<Values> {
    const isWithSecrets = await this.mayChange(original, actor);
    return { ...INHERITED_RETENTION, ...(isWithSecrets ? {} : { host_config_key: '' }) };
  }

  /**
   * Copies credentials, labels, instance groups and survey. Does not copy notifications. The copy receives
   * a new webhook key. Checks that the caller has permission to use the credentials of the copy: another
   * request can attach one to the original meanwhile.
   */
  protected override async copyParts(original: Row, copy: Row, actor: Actor): Promise<void> {
    await this.templates.copyAttachments(original.id, copy.id, actor);
    const ids = await this.templates.credentialsOf(copy.id);
    const refusal = 'Insufficient access to Job Template credentials.';
    const { references } = this.services;
    await references.assertAllowed(resource('credential'), ids, 'use', actor, refusal);
    await this.surveys.copy(original, copy.id, await this.mayChange(original, actor));
  }

  private mayChange({ id }: Row, actor: Actor): Promise<boolean> {
    return isPermitted(() => this.services.resources.assertMay(jobTemplates, id, 'change', actor));
  }
}

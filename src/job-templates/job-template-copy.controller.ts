import type { Actor } from '../common/access.js';
import { Forbidden } from '../common/errors/errors.js';
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
  protected readonly copied = jobTemplates;

  constructor(
    private readonly templates: JobTemplatesRepository,
    private readonly surveys: SurveyService,
  ) {
    super();
  }

  /**
   * Checks that the caller has permission to use the template's credentials, which are copied with it.
   * Secrets of the template are copied only for callers who could change the template.
   */
  protected override async replacedValues(original: Row, actor: Actor): Promise<Values> {
    const ids = await this.templates.credentialsOf(original.id);
    try {
      const { references } = this.services;
      await references.assertAllowed(resource('credential'), ids, 'use', actor);
    } catch (error) {
      throw error instanceof Forbidden
        ? new Forbidden('Insufficient access to Job Template credentials.')
        : error;
    }
    const isWithSecrets = await this.mayChange(original, actor);
    return { ...INHERITED_RETENTION, ...(isWithSecrets ? {} : { host_config_key: '' }) };
  }

  /**
   * Copies credentials, labels, instance groups and survey. Does not copy notifications. The copy receives
   * a new webhook key.
   */
  protected override async copyParts(original: Row, copy: Row, actor: Actor): Promise<void> {
    await this.templates.copyAttachments(original.id, copy.id, actor);
    await this.surveys.copy(original, copy.id, await this.mayChange(original, actor));
  }

  private mayChange({ id }: Row, actor: Actor): Promise<boolean> {
    return isPermitted(() => this.services.resources.assertMay(jobTemplates, id, 'change', actor));
  }
}

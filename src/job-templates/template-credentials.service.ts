import { Injectable } from '@nestjs/common';
import { Invalid } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { attachError } from '../credentials/types/combination.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { JobTemplatesRepository } from './job-templates.repository.js';

/** Rules of the credentials of job templates (docs/contract/resources.md#credentials-of-templates). */
@Injectable()
export class TemplateCredentials {
  constructor(
    private readonly templates: TemplatesRepository,
    private readonly jobTemplates: JobTemplatesRepository,
  ) {}

  /**
   * Rejects a credential that conflicts with the credentials of the template. Locks the row of the template,
   * so that concurrent requests cannot attach conflicting credentials.
   */
  async assertAttachable(template: Row, credential: Row): Promise<void> {
    await this.templates.lock([template.id]);
    const rows = await this.jobTemplates.withAttached(template.id, credential.id);
    const added = rows.find(({ id }) => id === credential.id);
    if (!added || added.is_attached) return;
    const fault = attachError(
      rows.filter(({ is_attached: isAttached }) => isAttached),
      added,
    );
    if (fault !== null) throw Invalid.field('credentials', fault);
  }
}

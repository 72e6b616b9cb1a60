import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { DomainError } from '../../common/errors/errors.js';
import type { Field } from '../../common/fields/field.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';
import { resource } from '../../common/resource/registry.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { TemplateProjects } from '../../job-templates/template-projects.service.js';

/** Form that suggests the playbooks of the selected project; an only playbook is the default. */
@Injectable()
@PageFormOf('job_template')
export class JobTemplateForm implements PageForm {
  constructor(
    private readonly resources: ResourceService,
    private readonly projects: TemplateProjects,
  ) {}

  async fields(
    fields: readonly Field[],
    _chosen: unknown,
    { project }: Readonly<Record<string, unknown>>,
    actor: Actor,
  ): Promise<readonly Field[]> {
    const playbooks = await this.playbooksOf([project].flat().at(-1), actor);
    const [only] = playbooks;
    if (only === undefined) return fields;
    return fields.map((field) =>
      field.name === 'playbook'
        ? {
            ...field,
            suggests: () => playbooks,
            default: playbooks.length === 1 ? only : field.default,
          }
        : field,
    );
  }

  /** Returns the playbooks of a project that the caller may read. */
  private async playbooksOf(project: unknown, actor: Actor): Promise<readonly string[]> {
    if (!/^\d{1,9}$/.test(String(project))) return [];
    try {
      const { id } = await this.resources.load(resource('project'), Number(project), actor);
      return (await this.projects.find(id))?.playbooks ?? [];
    } catch (error) {
      if (error instanceof DomainError) return [];
      throw error;
    }
  }
}

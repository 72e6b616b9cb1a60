import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { DomainError } from '../../common/errors/errors.js';
import { declareFields, References, targetOf, type Field } from '../../common/fields/field.js';
import { resource } from '../../common/resource/define-resource.js';
import { onlyId, ReferenceLists } from '../../common/rest/reference-lists.service.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { jobTemplates } from '../../job-templates/job-templates.resource.js';
import { TemplateProjects } from '../../job-templates/template-projects.service.js';
import { FilterForm, withFilterFields, withFilterLayout } from '../shared/filter-fields.js';
import { isFullTemplate, LABEL_FIELDS, LABEL_LISTS } from '../shared/label-fields.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';

const CREDENTIALS = declareFields({
  credentials: References('credential', {
    needs: 'use',
    help: 'Credentials of the runs: one of each kind, and several vault credentials.',
  }),
});

const { sections = {} } = withFilterLayout(jobTemplates.pages);

/**
 * Form with the credentials and labels of the template, and with the playbooks of the selected
 * project as choices.
 */
@Injectable()
@PageFormOf('job_template')
export class JobTemplateForm extends FilterForm implements PageForm {
  readonly lists = { credentials: { list: 'credentials' }, ...LABEL_LISTS };
  readonly preselects = ['project', 'inventory'];
  readonly dependencies = { playbook: 'project' };
  readonly pages = {
    ...jobTemplates.pages,
    sections: {
      ...sections,
      Where: (sections.Where ?? []).flatMap((name) =>
        name === 'inventory' ? [name, 'credentials'] : [name],
      ),
    },
  };

  constructor(
    private readonly resources: ResourceService,
    private readonly references: ReferenceLists,
    private readonly projects: TemplateProjects,
  ) {
    super();
  }

  async fields(fields: readonly Field[], { known, actor }: FormState): Promise<readonly Field[]> {
    if (!isFullTemplate(fields)) return fields;
    const all = withFilterFields(fields, known.webhook_service);
    const [project] = [known.project ?? (await this.onlyProject(fields, known, actor))]
      .flat()
      .slice(-1);
    const playbooks = await this.playbooksOf(project, actor);
    const current = String([known.playbook ?? ''].flat().at(-1));
    return [
      ...all.map((field) =>
        field.name === 'playbook' ? playbookField(field, playbooks, current) : field,
      ),
      ...CREDENTIALS,
      ...LABEL_FIELDS,
    ];
  }

  /**
   * Returns the id of the only project, which the form preselects; undefined if there are no or several
   * projects.
   */
  private async onlyProject(
    fields: readonly Field[],
    known: Readonly<Record<string, unknown>>,
    actor: Actor,
  ): Promise<unknown> {
    const field = fields.find(({ name }) => name === 'project');
    if (!field || 'project' in known) return undefined;
    return onlyId(await this.references.load(targetOf(field), field.needs ?? 'read', [], actor));
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

/** Returns the field as a choice of playbooks; as a text field if no playbooks are known. */
function playbookField(field: Field, playbooks: readonly string[], current: string): Field {
  const [only] = playbooks;
  if (only === undefined) return field;
  // A playbook that the project no longer has stays selected until the user chooses another playbook.
  const all = current === '' || playbooks.includes(current) ? playbooks : [current, ...playbooks];
  return {
    ...field,
    choices: all.map((path) => [path, path] as const),
    default: playbooks.length === 1 ? only : field.default,
  };
}

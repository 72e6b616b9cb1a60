import { Injectable } from '@nestjs/common';
import type { Field } from '../../common/fields/field.js';
import { LAUNCH_OPTIONS } from '../../prompts/launch-options.js';
import { SavedLaunchTargets } from '../../prompts/saved-launch-targets.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';
import { GENERATED, type Item } from '../shared/value-views.js';

/** Prompts with lists of objects, which the form saves after the node. */
const LISTS = LAUNCH_OPTIONS.filter(({ field }) => field.column === null);

/** Form of a workflow node, with only the prompts of its template. */
@Injectable()
@PageFormOf('workflow_job_template_node')
export class WorkflowNodeForm implements PageForm {
  readonly lists = Object.fromEntries(LISTS.map(({ name }) => [name, { list: name }]));

  constructor(private readonly targets: SavedLaunchTargets) {}

  async fields(fields: readonly Field[], { known }: FormState): Promise<readonly Field[]> {
    const id = Number([known.unified_job_template].flat().at(-1));
    const target = id > 0 ? (await this.targets.templates([id])).get(id) : undefined;
    const asks = (name: string): boolean =>
      LAUNCH_OPTIONS.some(
        (option) => option.name === name && target?.prompted.promptsFor(option.name),
      );
    const isApproval = target?.type === 'workflow_approval_template';
    const hasVariables = asks('extra_vars') || (target?.survey ?? null) !== null;
    const isShown = ({ name }: Field): boolean => {
      if (name === 'unified_job_template') return !isApproval;
      if (name === 'extra_data') return hasVariables;
      return asks(name) || !LAUNCH_OPTIONS.some((option) => option.name === name);
    };
    const lists = LISTS.filter(({ name }) => asks(name)).map(({ field }) => field);
    return [...fields.filter(isShown).map(labeled), ...lists];
  }

  fromObject({ identifier }: Item): Readonly<Record<string, unknown>> {
    return GENERATED.test(String(identifier)) ? { identifier: '' } : {};
  }
}

/** Labels and help in the words of the graph instead of the names of the API. */
const LABELS: Readonly<Record<string, Partial<Field>>> = {
  unified_job_template: { label: 'Run' },
  identifier: { label: 'Alias', help: 'Name in the graph instead of the name of the template.' },
  all_parents_must_converge: {
    label: 'Wait for all parents',
    help: 'If false, the step starts when the first parent satisfies the condition of its link.',
  },
  extra_data: { label: 'Variables' },
};

const labeled = (field: Field): Field => ({ ...field, ...LABELS[field.name] });

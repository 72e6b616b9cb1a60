import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { existing } from '../common/invariants.js';
import { mapValues } from '../common/records.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { NO_PROMPTS, readExtraData, savedFaults, sealSaved } from '../prompts/saved-prompts.js';
import { ApprovalTemplates } from './approval-templates.service.js';
import { SavedLaunchTargets, type SavedLaunchTarget } from '../prompts/saved-launch-targets.js';
import type { WorkflowJobTemplateNode } from './workflow-job-template-node.entity.js';
import { WorkflowJobTemplateNodesRepository } from './workflow-job-template-nodes.repository.js';
import { WorkflowJobTemplatesRepository } from './workflow-job-templates.repository.js';

const RECURSION = 'The workflow would contain itself.';
const FOREIGN_APPROVAL = 'An approval template belongs to the node that it was created for.';

/**
 * Maximum length of the variables and limits of a workflow's nodes, in characters: a launch has all of them in
 * memory.
 */
const MAX_LENGTH = 8 * 1024 * 1024;
const TOO_LONG = `The variables and limits of a workflow's nodes may have at most ${MAX_LENGTH} characters together.`;

interface CheckedNode {
  template: SavedLaunchTarget | null;
  values: ValuesOf<WorkflowJobTemplateNode>;
}

@Injectable()
export class WorkflowJobTemplateNodeHooks implements ResourceHooks<WorkflowJobTemplateNode> {
  constructor(
    private readonly nodes: WorkflowJobTemplateNodesRepository,
    private readonly references: ReferencesService,
    private readonly targets: SavedLaunchTargets,
    private readonly workflows: WorkflowJobTemplatesRepository,
    private readonly approvals: ApprovalTemplates,
    private readonly box: SecretBox,
  ) {}

  async lockParent(id: number): Promise<void> {
    const row = await this.nodes.findOneBy({ id });
    const workflows = row ? [Number(row.workflow_job_template_id)] : [];
    await this.references.lockExisting(resource('workflow_job_template'), workflows);
  }

  async prepareCreate(
    sent: ValuesOf<WorkflowJobTemplateNode>,
  ): Promise<Prepared<WorkflowJobTemplateNode>> {
    const identifier = sent.identifier === '' ? randomUUID() : sent.identifier;
    const { template, values } = await this.check({ ...sent, identifier }, {});
    // Reserves the id first, because secret answers are encrypted for the id of their row.
    const id = await this.nodes.takeId();
    const saved = sealSaved(this.box, { table: this.nodes.table, id }, values, template);
    return { values: { ...values, ...saved.values }, columns: { id, ...saved.columns } };
  }

  async prepareUpdate(
    row: RowOf<WorkflowJobTemplateNode>,
    sent: ValuesOf<WorkflowJobTemplateNode>,
    actor: Actor,
  ): Promise<Prepared<WorkflowJobTemplateNode>> {
    // An empty identifier keeps a generated identifier, and replaces any other by a generated one.
    const newIdentifier = isUUID(row.identifier) ? undefined : randomUUID();
    const identifier = sent.identifier === '' ? newIdentifier : sent.identifier;
    // The references check permissions on a template in the request.
    const templateId = 'unified_job_template' in sent ? null : row.unified_job_template_id;
    if (templateId !== null) {
      await this.references.assertAllowed(
        resource('unified_job_template'),
        [templateId],
        'launch',
        actor,
      );
    }
    const { template, values } = await this.check({ ...sent, identifier }, row);
    if ('unified_job_template' in values && !actor.isSuperuser) assertNewAnswers(row, values);
    if (values.extra_data === undefined) return { values };
    const target = { table: this.nodes.table, id: row.id };
    const saved = sealSaved(this.box, target, values, template, row.survey_passwords);
    return { values: { ...values, ...saved.values }, columns: saved.columns };
  }

  async updated(
    before: RowOf<WorkflowJobTemplateNode>,
    after: RowOf<WorkflowJobTemplateNode>,
  ): Promise<void> {
    const former = before.unified_job_template_id;
    if (former !== after.unified_job_template_id) await this.approvals.discard(former);
  }

  async prepareDelete(row: RowOf<WorkflowJobTemplateNode>): Promise<void> {
    await this.approvals.discard(row.unified_job_template_id);
  }

  /**
   * Checks a node in its state after the request.
   *
   * @returns template of the node (null for none), and values of the node with parsed `extra_data`
   * @throws Invalid with all errors
   */
  private async check(
    sent: ValuesOf<WorkflowJobTemplateNode>,
    row: Partial<RowOf<WorkflowJobTemplateNode>>,
  ): Promise<CheckedNode> {
    const values = { ...sent, ...readExtraData(sent) };
    const changesTemplate = 'unified_job_template' in values;
    const id = changesTemplate ? values.unified_job_template : row.unified_job_template_id;
    const template =
      typeof id === 'number' ? (await this.targets.templates([id])).get(id) : undefined;
    if (!template)
      return { template: null, values: { ...values, ...withoutPrompts(changesTemplate) } };
    const errors: FieldErrors = {
      ...savedFaults(values, row, template),
      ...(changesTemplate ? await this.templateFaults(values, row, template) : {}),
    };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    await this.assertFits(values, row);
    return { template, values };
  }

  private async assertFits(
    values: ValuesOf<WorkflowJobTemplateNode>,
    row: Partial<RowOf<WorkflowJobTemplateNode>>,
  ): Promise<void> {
    if (!('extra_data' in values || 'limit' in values)) return;
    const { extra_data: variables = {}, limit } = { ...row, ...values };
    if (Object.keys(variables).length === 0 && (limit ?? '') === '') return;
    const others = await this.nodes.lengthOfOthers(workflowOf(values, row), row.id ?? 0);
    if (others + JSON.stringify([variables, limit]).length <= MAX_LENGTH) return;
    throw Invalid.field('extra_data', TOO_LONG);
  }

  private async templateFaults(
    values: ValuesOf<WorkflowJobTemplateNode>,
    row: Partial<RowOf<WorkflowJobTemplateNode>>,
    { id, type }: SavedLaunchTarget,
  ): Promise<FieldErrors> {
    if (type === 'workflow_approval_template') return { unified_job_template: [FOREIGN_APPROVAL] };
    if (type !== 'workflow_job_template') return {};
    return (await this.workflows.wouldContain(workflowOf(values, row), id))
      ? { unified_job_template: [RECURSION] }
      : {};
  }
}

const workflowOf = (
  values: ValuesOf<WorkflowJobTemplateNode>,
  row: Partial<RowOf<WorkflowJobTemplateNode>>,
): number =>
  existing(
    row.workflow_job_template_id ?? values.workflow_job_template,
    'a node is part of a workflow',
  );

/** Requires new secret answers, because stored answers belong to the survey of the former template. */
function assertNewAnswers(
  row: RowOf<WorkflowJobTemplateNode>,
  { extra_data: given }: ValuesOf<WorkflowJobTemplateNode>,
): void {
  const after = given ?? row.extra_data;
  const reused = Object.keys(row.survey_passwords).filter((name) => after[name] === ENCRYPTED);
  if (reused.length === 0) return;
  const text = `Another template requires new secret answers: ${reused.join(', ')}.`;
  throw Invalid.field('extra_data', text);
}

/** Returns the launch fields of a node without a template: reset if the request removes the template. */
const withoutPrompts = (changesTemplate: boolean): ValuesOf<WorkflowJobTemplateNode> =>
  mapValues(NO_PROMPTS, (none) => (changesTemplate ? none : undefined));

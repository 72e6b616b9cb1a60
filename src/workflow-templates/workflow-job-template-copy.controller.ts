import { Get } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { NotFound } from '../common/errors/errors.js';
import { exactJson } from '../common/exact-json.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { zip } from '../common/invariants.js';
import * as json from '../common/fields/json-schema.js';
import type { Row } from '../common/resource/define-resource.js';
import { copyCheckOf, CopyController } from '../common/rest/copy.controller.js';
import type { Values } from '../common/rest/hooks.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import type { ColumnValues } from '../database/rows.js';
import { columnsOfPrompts, storedPrompts } from '../prompts/prompt-columns.js';
import { openAnswers, sealAnswers } from '../prompts/saved-secrets.js';
import { INHERITED_RETENTION } from '../templates/retention.schema.js';
import { SurveyService } from '../templates/survey.service.js';
import {
  WorkflowJobTemplatesRepository,
  type CopiedReference,
} from './workflow-job-templates.repository.js';
import {
  type CopiedNode,
  WorkflowJobTemplateNodesRepository,
} from './workflow-job-template-nodes.repository.js';
import { workflowJobTemplates } from './workflow-job-templates.resource.js';

const APPROVAL = 'workflow_approval_template';
const NAMES = json.list(json.STRING);

const LOSSES = {
  can_copy_without_user_input: json.described(
    json.BOOLEAN,
    'True if the copy contains all objects of the original.',
  ),
  templates_unable_to_copy: json.described(NAMES, 'Templates that the caller may not launch.'),
  credentials_unable_to_copy: json.described(NAMES, 'Credentials that the caller may not use.'),
  inventories_unable_to_copy: json.described(NAMES, 'Inventories that the caller may not use.'),
};

/**
 * Copies a workflow without the objects that the caller has no permission to use
 * (docs/contract/workflows.md#copying-workflows).
 */
@Resource(workflowJobTemplates, 'api/v2/workflow_job_templates/:id/copy')
export class WorkflowJobTemplateCopyController extends CopyController {
  constructor(
    private readonly templates: WorkflowJobTemplatesRepository,
    private readonly nodes: WorkflowJobTemplateNodesRepository,
    private readonly surveys: SurveyService,
    private readonly box: SecretBox,
  ) {
    super();
  }

  @Route((templates) => ({ ...copyCheckOf(templates, LOSSES), parent: templates }))
  @Get()
  override async check(@Target() original: Row, @CurrentActor() actor: Actor): Promise<object> {
    if (!(await this.mayCopy(original, actor))) {
      return {
        can_copy: false,
        can_copy_without_user_input: false,
        templates_unable_to_copy: ['all'],
        credentials_unable_to_copy: ['all'],
        inventories_unable_to_copy: ['all'],
      };
    }
    const nodes = await this.nodes.toCopy(original.id, actor);
    const references = await this.references(original, actor);
    const templates = namesOf(nodes.map((node) => (keepsTemplate(node) ? null : node.template)));
    const credentials = namesOf([
      references.credential,
      ...nodes.flatMap((node) => node.credentials),
    ]);
    const inventories = namesOf([references.inventory, ...nodes.map((node) => node.inventory)]);
    return {
      can_copy: true,
      can_copy_without_user_input: [templates, credentials, inventories].every(
        (names) => names.length === 0,
      ),
      templates_unable_to_copy: templates,
      credentials_unable_to_copy: credentials,
      inventories_unable_to_copy: inventories,
    };
  }

  /** @throws NotFound if another request has deleted the original */
  private async references({ id }: Row, actor: Actor) {
    const references = await this.templates.references(id, actor);
    if (!references) throw new NotFound();
    return references;
  }

  protected override async replacedValues(original: Row, actor: Actor): Promise<Values> {
    const { inventory, credential } = await this.references(original, actor);
    return {
      ...INHERITED_RETENTION,
      ...(inventory?.may_use === false ? { inventory: null } : {}),
      ...(credential?.may_use === false ? { webhook_credential: null } : {}),
    };
  }

  /**
   * Copies labels, survey and graph. Does not copy notifications. The copy receives a new webhook key.
   */
  protected override async copyParts(original: Row, copy: Row, actor: Actor): Promise<void> {
    await this.templates.copyLabels(original.id, copy.id);
    await this.surveys.copy(original, copy.id);
    await this.copyGraph(await this.nodes.toCopy(original.id, actor), copy.id, actor);
  }

  /** Copies nodes, edges and their dependent rows, in a constant number of statements. */
  private async copyGraph(
    nodes: readonly CopiedNode[],
    workflowId: number,
    actor: Actor,
  ): Promise<void> {
    if (nodes.length === 0) return;
    const ids = await this.nodes.takeIds(nodes.length);
    const approvals = await this.copyApprovals(nodes, actor.id);
    const sealing = { box: this.box, table: this.nodes.table };
    const rows = zip(nodes, ids).map(([node, id]) =>
      nodeValues(sealing, node, { id, workflowId }, approvals),
    );
    await this.nodes.insertMany(rows);
    const originals = nodes.map(({ id }) => id);
    await this.nodes.copyLinks(originals, ids, actor);
    const usable = zip(nodes, ids).flatMap(([node, id]) =>
      keepsTemplate(node)
        ? node.credentials
            .filter((credential) => credential.may_use)
            .map((credential) => [id, credential.id] as const)
        : [],
    );
    await this.nodes.attachCredentials(usable);
  }

  /** @returns id of the copy by id of the original */
  private async copyApprovals(
    nodes: readonly CopiedNode[],
    authorId: number,
  ): Promise<Map<number, number>> {
    const originals = nodes
      .filter(({ template_type: type }) => type === APPROVAL)
      .flatMap((node) => node.unified_job_template_id ?? []);
    const ids = await this.templates.takeIds(originals.length);
    await this.templates.copyApprovals(originals, ids, authorId);
    return new Map(zip(originals, ids));
  }
}

/**
 * Returns true if the copy of a node keeps its template. Approval templates are copied; for other
 * templates the caller needs permission to launch.
 */
const keepsTemplate = ({ template, template_type: type }: CopiedNode): boolean =>
  type === APPROVAL || template?.may_use === true;

/**
 * Returns the distinct names of objects that the copy does not contain. Without read permission, the
 * id replaces the name.
 */
const namesOf = (references: readonly (CopiedReference | null)[]): string[] => {
  const missing = references.flatMap((reference) =>
    reference && !reference.may_use ? [reference] : [],
  );
  return [
    ...new Set(missing.map(({ id, name, may_read: mayRead }) => (mayRead ? name : `#${id}`))),
  ];
};

/**
 * Returns the values of a copied node. A node that loses its template keeps its identifier and its
 * edges.
 */
function nodeValues(
  { box, table }: { box: SecretBox; table: string },
  node: CopiedNode,
  { id, workflowId }: { id: number; workflowId: number },
  approvals: ReadonlyMap<number, number>,
): ColumnValues {
  const templateId = node.unified_job_template_id;
  const isKept = keepsTemplate(node);
  const secrets = Object.keys(node.survey_passwords);
  const answers = isKept
    ? openAnswers(box, { table, id: node.id }, node.extra_data, node.survey_passwords)
    : {};
  const { masked, sealed } = sealAnswers(box, { table, id }, answers, secrets);
  return {
    ...columnsOfPrompts(isKept ? storedPrompts(node) : {}),
    id,
    workflow_job_template_id: workflowId,
    unified_job_template_id:
      isKept && templateId !== null ? (approvals.get(templateId) ?? templateId) : null,
    identifier: node.identifier,
    all_parents_must_converge: node.all_parents_must_converge,
    extra_data: exactJson(masked),
    survey_passwords: JSON.stringify(sealed),
    ...(node.inventory?.may_use === false ? { inventory_id: null } : {}),
    ...(node.environment?.may_use === false ? { execution_environment_id: null } : {}),
  };
}

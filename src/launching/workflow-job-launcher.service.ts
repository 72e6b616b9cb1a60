import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { zip } from '../common/invariants.js';
import { partsBySize, ROW_BYTES } from '../common/parts.js';
import { resource } from '../common/resource/define-resource.js';
import { referencedSummaries } from '../common/resource/related-rows.js';
import { Database } from '../database/database.js';
import { LaunchLoader, type SavedNode } from './launch.loader.js';
import {
  loadedTemplate,
  type LaunchRequest,
  TemplateLauncher,
  type TemplateNeeds,
} from './template-launcher.js';
import type { LaunchResult } from '../runs/launcher.js';
import { describeWorkflowLaunch } from './launch-needs.js';
import { LaunchTargets } from './launch-targets.service.js';
import { WorkflowRows, type NewWorkflowJob } from '../workflows/workflow-rows.service.js';
import { planWorkflow, type PlannedWorkflow } from './workflow-launch-check.js';

/** Name of the kind of template in error texts. */
const MODEL = 'WorkflowJobTemplate';

/** Launches workflow job templates: as workflow jobs with a snapshot of their nodes. */
@Injectable()
export class WorkflowJobLauncher extends TemplateLauncher<PlannedWorkflow> {
  constructor(
    database: Database,
    private readonly loader: LaunchLoader,
    private readonly targets: LaunchTargets,
    private readonly rows: WorkflowRows,
  ) {
    super(database);
  }

  async plan(requests: readonly LaunchRequest[], actor: Actor | null): Promise<PlannedWorkflow[]> {
    const ids = [...new Set(requests.map(({ templateId }) => templateId))];
    const templates = await this.loader.workflows(ids, actor);
    const own = [...templates.values()].map(({ row }) => row.inventory_id);
    const sent = requests.map(({ prompts }) => prompts.inventory);
    const objects = await this.loader.load(
      {
        inventory: [...own, ...sent].flatMap((id) => id ?? []),
        labels: requests.flatMap(({ prompts }) => prompts.labels ?? []),
      },
      actor,
    );
    return requests.map((request) => {
      const template = loadedTemplate(templates, request.templateId, MODEL);
      return planWorkflow(request, template, objects);
    });
  }

  async needs(templateId: number, actor: Actor): Promise<TemplateNeeds> {
    const templates = await this.loader.workflows([templateId], actor);
    const template = loadedTemplate(templates, templateId, MODEL);
    const nodes = await this.loader.nodes([templateId]);
    const { inventory_id: inventoryId } = template.row;
    const [inventory] = await referencedSummaries(
      resource('inventory'),
      inventoryId === null ? [] : [inventoryId],
      { database: this.database, actor },
    );
    const ids = new Set(nodes.flatMap(({ templateId: id }) => id ?? []));
    const response = describeWorkflowLaunch({
      template,
      nodes,
      nodeTemplates: await this.targets.templates([...ids]),
      inventory: inventory ? { id: inventory[0], name: String(inventory[1].name) } : null,
    });
    return { response, survey: template.survey };
  }

  async start(plans: readonly PlannedWorkflow[]): Promise<LaunchResult[]> {
    const results: LaunchResult[] = [];
    const sizeOf = ({ template: { nodeCount, nodeSize } }: PlannedWorkflow): number =>
      nodeCount * ROW_BYTES + nodeSize;
    for (const part of partsBySize(plans, sizeOf)) {
      results.push(...(await this.startPart(part)));
    }
    return results;
  }

  private async startPart(plans: readonly PlannedWorkflow[]): Promise<LaunchResult[]> {
    const nodes = await this.loader.nodes([
      ...new Set(plans.map(({ request }) => request.templateId)),
    ]);
    const nodesOf = (id: number): SavedNode[] =>
      nodes.filter(({ workflowTemplateId }) => workflowTemplateId === id);
    const jobs = await this.rows.write(
      plans.map((plan) => workflowJobOf(plan, nodesOf(plan.request.templateId))),
    );
    return zip(jobs, plans).map(([{ id }, { ignored, errors }]) => ({
      run: { id, type: 'workflow_job', ignored },
      errors,
    }));
  }
}

function workflowJobOf(plan: PlannedWorkflow, nodes: readonly SavedNode[]): NewWorkflowJob {
  const { request, variables, nodePrompts, labels } = plan;
  const { row } = plan.template;
  return {
    name: request.name ?? String(row.name),
    description: String(row.description),
    templateId: row.id,
    isBulk: false,
    allowSimultaneous: row.allow_simultaneous === true,
    organizationId: row.organization_id,
    createdBy: request.createdBy,
    launchType: request.launchType,
    prompts: { ...nodePrompts, extra_vars: variables.variables },
    secrets: variables.secrets,
    artifactNames: request.artifactNames ?? [],
    labels,
    ...(request.webhook ? { webhook: request.webhook } : {}),
    isHeld: request.isHeld === true,
    nodes,
  };
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { NotFound } from '../common/errors/errors.js';
import { zip } from '../common/invariants.js';
import { Database } from '../database/database.js';
import { LaunchLoader } from './launch-loader.js';
import type { LaunchCheck, LaunchedRun, LaunchRequest, SpawnedRun } from './launch-request.js';
import { assertLaunchable, heldAmong } from './launch.service.js';
import { HeldRuns } from '../workflows/held-runs.js';
import { WorkflowRows, type NewNode, type NewWorkflowJob } from '../workflows/workflow-rows.js';
import { planWorkflow, type PlannedWorkflow } from './workflow-launch-check.js';
import { WorkflowLaunchLoader, type SavedNode } from './workflow-launch-loader.js';

/**
 * The one way from a workflow job template to a workflow job. Set-based, like `LaunchService`: the
 * number of statements does not depend on the number of requests, nor of nodes.
 */
@Injectable()
export class WorkflowLaunchService {
  constructor(
    private readonly database: Database,
    private readonly loader: WorkflowLaunchLoader,
    private readonly objects: LaunchLoader,
    private readonly rows: WorkflowRows,
    private readonly held: HeldRuns,
  ) {}

  /**
   * Checks requests without writing, all faults of all of them.
   *
   * @param actor null: no permission is asked (webhooks)
   * @throws NotFound for a template that does not exist
   */
  check(requests: readonly LaunchRequest[], actor: Actor | null): Promise<LaunchCheck[]> {
    return this.plan(requests, actor);
  }

  /**
   * Creates the workflow jobs as `pending` with a snapshot of the nodes, in the caller's transaction
   * or one of its own.
   *
   * @param actor null: no permission is asked (webhooks)
   * @returns in the order of the requests
   * @throws Invalid, Forbidden or NotFound for the first request that cannot be launched
   */
  launch(requests: readonly LaunchRequest[], actor: Actor | null): Promise<LaunchedRun[]> {
    return this.database.transaction(async () => {
      const plans = await this.plan(requests, actor);
      for (const plan of plans) assertLaunchable(plan);
      const runs = await this.write(plans);
      await this.held.hold(heldAmong(runs, requests));
      return runs;
    });
  }

  /**
   * Creates a workflow job for every request, also for one that cannot go on, in the caller's
   * transaction and without asking for any permission: for what starts by itself. The caller ends
   * the workflow jobs that come with errors.
   *
   * @throws NotFound for a template that does not exist
   */
  async spawn(requests: readonly LaunchRequest[]): Promise<SpawnedRun[]> {
    const plans = await this.plan(requests, null);
    const runs = await this.write(plans);
    return zip(runs, plans).map(([run, { errors }]) => ({ ...run, errors }));
  }

  private async plan(
    requests: readonly LaunchRequest[],
    actor: Actor | null,
  ): Promise<PlannedWorkflow[]> {
    const ids = [...new Set(requests.map(({ templateId }) => templateId))];
    const templates = await this.loader.templates(ids, actor);
    const own = [...templates.values()].map(({ row }) => row.inventory_id as number | null);
    const sent = requests.map(({ prompts }) => prompts.inventory);
    const objects = await this.objects.load(
      {
        templates: [],
        inventories: [...own, ...sent].flatMap((id) => id ?? []),
        credentials: [],
        labels: requests.flatMap(({ prompts }) => prompts.labels ?? []),
      },
      actor,
    );
    return requests.map((request) => {
      const template = templates.get(request.templateId);
      if (!template) throw new NotFound('No WorkflowJobTemplate matches the given query.');
      return planWorkflow(request, template, objects);
    });
  }

  private async write(plans: readonly PlannedWorkflow[]): Promise<LaunchedRun[]> {
    if (plans.length === 0) return [];
    const nodes = await this.loader.nodes([
      ...new Set(plans.map(({ request }) => request.templateId)),
    ]);
    const of = (id: number): SavedNode[] =>
      nodes.filter(({ workflowTemplateId }) => workflowTemplateId === id);
    const jobs = await this.rows.write(
      plans.map((plan) => workflowJobOf(plan, of(plan.request.templateId))),
    );
    return zip(jobs, plans).map(([{ id }, { ignored }]) => ({ id, type: 'workflow_job', ignored }));
  }
}

function workflowJobOf(plan: PlannedWorkflow, nodes: readonly SavedNode[]): NewWorkflowJob {
  const { request, variables, handedOn, labels } = plan;
  const { row } = plan.template;
  return {
    name: request.name ?? String(row.name),
    description: String(row.description),
    templateId: row.id,
    isBulk: false,
    allowSimultaneous: row.allow_simultaneous === true,
    organizationId: row.organization_id as number | null,
    createdBy: request.createdBy,
    launchType: request.launchType,
    prompts: { ...handedOn, extra_vars: variables.variables },
    secrets: variables.secrets,
    labels,
    ...(request.webhook ? { webhook: request.webhook } : {}),
    isHeld: request.isHeld === true,
    nodes: nodes.map(newNode),
  };
}

const newNode = (node: SavedNode): NewNode => ({
  identifier: node.identifier,
  templateId: node.templateId,
  own: node.prompts,
  secrets: node.secrets,
  parents: node.parents,
  allParentsMustConverge: node.allParentsMustConverge,
});

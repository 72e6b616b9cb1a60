import { Injectable } from '@nestjs/common';
import { BadRequest } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import type { LaunchRequest } from '../launching/launch-request.js';
import type { LaunchWebhook } from '../runs/webhook-run.schema.js';
import { LaunchService } from '../launching/launch.service.js';
import { ProjectSyncs } from '../projects/project-syncs.js';
import { WorkflowLaunchService } from '../launching/workflow-launch.service.js';
import type { LaunchedRun } from './delivery-ledger.service.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import type { ReceiverType } from './receiver-kinds.js';
import type { ReceiverTemplate } from './receiver-templates.js';

/** What a verified event launches. */
interface Order {
  templateId: number;
  /** Commit or tag of the event. */
  ref: string | null;
  webhook: LaunchWebhook;
}

/** Launches what a kind of template stands for, in the transaction of the delivery. */
@Injectable()
export class RunLauncher {
  private readonly launches: Record<ReceiverType, (order: Order) => Promise<LaunchedRun>> = {
    job_template: (order) => this.launchJob(order),
    workflow_job_template: (order) => this.launchWorkflow(order),
    project: (order) => this.sync(order),
  };

  constructor(
    private readonly jobs: LaunchService,
    private readonly workflows: WorkflowLaunchService,
    private readonly syncs: ProjectSyncs,
  ) {}

  /**
   * @throws Invalid, BadRequest or NotFound when the template cannot be launched as it stands
   */
  launch(
    { id: templateId, kind, credentialId }: ReceiverTemplate,
    { service, guid, ref }: WebhookEvent,
    deliveryId: number,
  ): Promise<LaunchedRun> {
    const webhook = { service, credentialId, guid, deliveryId };
    return this.launches[kind.type]({ templateId, ref, webhook });
  }

  private async launchJob(order: Order): Promise<LaunchedRun> {
    const { jobIds, isSliced } = await this.jobs.launch([requestOf(order)], null);
    return { id: itemAt(jobIds, 0), type: isSliced[0] ? 'workflow_job' : 'job' };
  }

  private async launchWorkflow(order: Order): Promise<LaunchedRun> {
    const { jobIds } = await this.workflows.launch([requestOf(order)], null);
    return { id: itemAt(jobIds, 0), type: 'workflow_job' };
  }

  private async sync({ templateId, webhook }: Order): Promise<LaunchedRun> {
    const id = await this.syncs.startByWebhook(templateId, webhook);
    if (id === null) throw new BadRequest('The project has no source to be synced from.');
    return { id, type: 'project_update' };
  }
}

const requestOf = ({ templateId, ref, webhook }: Order): LaunchRequest => ({
  templateId,
  launchType: 'webhook',
  prompts: {},
  createdBy: null,
  // Used where the project lets it be chosen and the template asks for it.
  scmBranch: ref,
  webhook,
});

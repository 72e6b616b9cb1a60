import { Injectable } from '@nestjs/common';
import { BadRequest } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import type { LaunchRequest } from '../launching/launch-request.js';
import type { LaunchWebhook } from '../runs/webhook-run.schema.js';
import { LaunchService } from '../launching/launch.service.js';
import { isFromFork } from '../code-hosts/forks.js';
import { ProjectSyncs } from '../projects/project-syncs.js';
import { WorkflowLaunchService } from '../launching/workflow-launch.service.js';
import type { DeliveredRun } from './webhook-deliveries.repository.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import type { ReceiverType } from './receiver-kinds.js';
import type { ReceiverTemplate } from './receiver-templates.service.js';

/** What a verified event launches. */
interface Order {
  templateId: number;
  /** Commit or tag of the event. */
  ref: string | null;
  webhook: LaunchWebhook;
  /** The run begins once somebody approves of it. */
  isHeld: boolean;
}

/** Launches what a kind of template stands for, in the transaction of the delivery. */
@Injectable()
export class RunLauncher {
  private readonly launches: Record<ReceiverType, (order: Order) => Promise<DeliveredRun>> = {
    job_template: (order) => launchWith(this.jobs, order),
    workflow_job_template: (order) => launchWith(this.workflows, order),
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
    { id: templateId, kind, credentialId, forks }: ReceiverTemplate,
    event: WebhookEvent,
    deliveryId: number,
  ): Promise<DeliveredRun> {
    const { service, guid, ref } = event;
    const webhook = { service, credentialId, guid, deliveryId };
    const isHeld = forks === 'approval' && isFromFork(event);
    return this.launches[kind.type]({ templateId, ref, webhook, isHeld });
  }

  private async sync({ templateId, webhook }: Order): Promise<DeliveredRun> {
    const id = await this.syncs.startByWebhook(templateId, webhook);
    if (id === null) throw new BadRequest('The project has no source to be synced from.');
    return { id, type: 'project_update' };
  }
}

const launchWith = async (
  launches: LaunchService | WorkflowLaunchService,
  order: Order,
): Promise<DeliveredRun> => itemAt(await launches.launch([requestOf(order)], null), 0);

const requestOf = ({ templateId, ref, webhook, isHeld }: Order): LaunchRequest => ({
  templateId,
  launchType: 'webhook',
  prompts: {},
  createdBy: null,
  // Used where the project lets it be chosen and the template asks for it.
  scmBranch: ref,
  webhook,
  isHeld,
});

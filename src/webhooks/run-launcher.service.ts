import { Injectable } from '@nestjs/common';
import { BadRequest } from '../common/errors/errors.js';
import { entryOf, zip } from '../common/invariants.js';
import { keysOf } from '../common/records.js';
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

/** A delivery whose event is about to launch its template. */
interface Launching {
  template: ReceiverTemplate;
  event: WebhookEvent;
  /** Id of the delivery's row. */
  id: number;
}

/** A launch that a verified event requests. */
interface Order {
  templateId: number;
  type: ReceiverType;
  /** Commit or tag of the event. */
  ref: string | null;
  webhook: LaunchWebhook;
  /** True if the run waits for an approval before it starts. */
  isHeld: boolean;
}

/** Launches templates of every kind, in the transaction of their deliveries. */
@Injectable()
export class RunLauncher {
  private readonly launches: Record<
    ReceiverType,
    (orders: readonly Order[]) => Promise<DeliveredRun[]>
  > = {
    job_template: (orders) => this.jobs.launch(orders.map(requestOf), null),
    workflow_job_template: (orders) => this.workflows.launch(orders.map(requestOf), null),
    project: (orders) => this.sync(orders),
  };

  constructor(
    private readonly jobs: LaunchService,
    private readonly workflows: WorkflowLaunchService,
    private readonly syncs: ProjectSyncs,
  ) {}

  /**
   * @returns the runs, in the order of the deliveries
   * @throws Invalid, BadRequest or NotFound for the first template that cannot be launched in its
   *   present state
   */
  async launch(deliveries: readonly Launching[]): Promise<DeliveredRun[]> {
    const orders = deliveries.map(orderOf);
    const runs = new Map<Order, DeliveredRun>();
    for (const type of keysOf(this.launches)) {
      const own = orders.filter((order) => order.type === type);
      if (own.length === 0) continue;
      for (const [order, run] of zip(own, await this.launches[type](own))) runs.set(order, run);
    }
    return orders.map((order) => entryOf(runs, order));
  }

  private async sync(orders: readonly Order[]): Promise<DeliveredRun[]> {
    const runs: DeliveredRun[] = [];
    for (const { templateId, webhook } of orders) {
      const id = await this.syncs.startByWebhook(templateId, webhook);
      if (id === null) throw new BadRequest('The project has no source to be synced from.');
      runs.push({ id, type: 'project_update' });
    }
    return runs;
  }
}

function orderOf({ template, event, id: deliveryId }: Launching): Order {
  const { id: templateId, kind, credentialId, forks } = template;
  const { service, guid, ref } = event;
  const webhook = { service, credentialId, guid, deliveryId };
  const isHeld = forks === 'approval' && isFromFork(event);
  return { templateId, type: kind.type, ref, webhook, isHeld };
}

const requestOf = ({ templateId, ref, webhook, isHeld }: Order): LaunchRequest => ({
  templateId,
  launchType: 'webhook',
  prompts: {},
  createdBy: null,
  // Used only if the project permits another branch and the template prompts for it.
  scmBranch: ref,
  webhook,
  isHeld,
});

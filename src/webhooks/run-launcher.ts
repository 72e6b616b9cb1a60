import { Injectable } from '@nestjs/common';
import { BadRequest } from '../common/http/errors.js';
import type { LaunchWebhook } from '../jobs/launch-request.js';
import { LaunchService } from '../jobs/launch.service.js';
import { ProjectSyncs } from '../projects/project-syncs.js';
import { WorkflowLaunchService } from '../workflow-templates/workflow-launch.service.js';
import type { WebhookEvent } from './event.js';
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
  private readonly launches: Record<ReceiverType, (order: Order) => Promise<number>> = {
    job_template: (order) => this.launchFrom(this.jobs, order),
    workflow_job_template: (order) => this.launchFrom(this.workflows, order),
    project: (order) => this.sync(order),
  };

  constructor(
    private readonly jobs: LaunchService,
    private readonly workflows: WorkflowLaunchService,
    private readonly syncs: ProjectSyncs,
  ) {}

  /**
   * @returns id of the run
   * @throws Invalid, BadRequest or NotFound when the template cannot be launched as it stands
   */
  launch(
    { id: templateId, kind, credentialId }: ReceiverTemplate,
    { service, guid, ref }: WebhookEvent,
    deliveryId: number,
  ): Promise<number> {
    const webhook = { service, credentialId, guid, deliveryId };
    return this.launches[kind.type]({ templateId, ref, webhook });
  }

  private async launchFrom(
    launcher: LaunchService | WorkflowLaunchService,
    { templateId, ref, webhook }: Order,
  ): Promise<number> {
    const request = {
      templateId,
      launchType: 'webhook' as const,
      prompts: {},
      createdBy: null,
      // Used where the project lets it be chosen and the template asks for it (decision 21).
      scmBranch: ref,
      webhook,
    };
    const { jobIds } = await launcher.launch([request], null);
    return jobIds[0]!;
  }

  private async sync({ templateId, webhook }: Order): Promise<number> {
    const id = await this.syncs.startByWebhook(templateId, webhook);
    if (id === null) throw new BadRequest('The project has no source to be synced from.');
    return id;
  }
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { BadRequest } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { referencesIn, type Prompts } from '../prompts/launch-options.js';
import { promptsOf } from '../prompts/launch-secrets.js';
import { FormerNodes } from '../launching/former-nodes.service.js';
import { LaunchLoader, type LaunchObjects } from '../launching/launch.loader.js';
import { withoutDeleted } from '../launching/launch-plan.js';
import { assertOwnSecrets, secretsOf } from '../launching/relaunch-secrets.js';
import type { WorkflowJob } from '../workflows/workflow-job.entity.js';
import { secretFiller, secretNamesOf } from '../workflows/workflow-secrets.js';
import { BulkLaunchService } from './bulk-launch.service.js';

/** Relaunches the nodes of a bulk launch, with the rules of a bulk launch. */
@Injectable()
export class BulkRelaunch {
  constructor(
    private readonly loader: LaunchLoader,
    private readonly formerNodes: FormerNodes,
    private readonly launches: BulkLaunchService,
    private readonly secretBox: SecretBox,
  ) {}

  /**
   * @throws Forbidden if another user provided secret prompts of the job and the caller is not a superuser,
   *   BadRequest if a template was deleted, Invalid like a bulk launch for objects that the caller can no
   *   longer use
   */
  async relaunch(job: RowOf<WorkflowJob>, actor: Actor): Promise<object> {
    const fill = secretFiller(this.secretBox, job.id, job.launch_config);
    const nodes = await this.formerNodes.load(job, fill);
    assertOwnSecrets(job, secretsOf(job, nodes), actor);
    const launchSecrets = secretNamesOf(job.launch_config);
    const entries = nodes.map(({ templateId, identifier, prompts, secrets }) => {
      if (templateId === null) {
        throw new BadRequest('A template of the workflow job is missing or undefined.');
      }
      return { templateId, identifier, prompts, secrets: [...launchSecrets, ...secrets] };
    });
    const prompts = fill('', promptsOf(job.launch_config));
    const objects = await this.loader.load(referencesIn([prompts]), actor);
    return this.launches.start(
      {
        name: job.name,
        description: job.description,
        organizationId: job.organization_id,
        prompts: withoutDeletedObjects(prompts, objects),
        entries,
      },
      actor,
      { launchType: 'relaunch' },
    );
  }
}

/**
 * Returns the defaults of the former launch without deleted objects, like the prompts of its nodes. A deleted
 * inventory stays, because the jobs would run on other hosts without it.
 */
function withoutDeletedObjects(prompts: Prompts, objects: LaunchObjects): Prompts {
  const { credentials, execution_environment: environment } = prompts;
  const remaining = withoutDeleted(prompts, objects);
  if (credentials) remaining.credentials = credentials.filter((id) => objects.credentials.has(id));
  if (environment !== undefined && !objects.execution_environment.has(environment)) {
    delete remaining.execution_environment;
  }
  return remaining;
}

import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { PASSWORDS_NEEDED } from '../runs/launched-by.js';
import { Choices, fieldsOf } from '../common/fields/field.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import type { RowOf } from '../common/resource/define-resource.js';
import * as json from '../common/fields/json-schema.js';
import type { Actor } from '../common/access.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { formOf, passwordFields } from '../prompts/launch-form.js';
import type { Job } from '../runs/job.entity.js';
import { jobs } from '../runs/jobs.resource.js';
import { launchedReply } from '../runs/launched-reply.js';
import { CredentialPasswords } from '../prompts/credential-passwords.js';
import { RelaunchService, type RelaunchHosts } from './relaunch.service.js';

export class RelaunchBody {
  @Choices(
    [
      ['all', 'All hosts'],
      ['failed', 'Failed hosts'],
    ],
    { default: 'all', column: null, filter: false, help: 'Hosts of the new job.' },
  )
  hosts!: RelaunchHosts;

  @CredentialPasswords()
  credential_passwords!: Record<string, string>;
}

/** Number of hosts, or a sentence while the job is active. */
const COUNT = json.anyOfSchemas(json.INTEGER, json.STRING);
const RELAUNCH_NEEDS = json.object({
  passwords_needed_to_start: PASSWORDS_NEEDED,
  retry_counts: json.described(
    json.anyOfSchemas(json.STRING, json.object({ all: COUNT, failed: COUNT })),
    'Number of hosts that a relaunch by status would run on.',
  ),
});

/**
 * Returns the fields of the relaunch form: `hosts` and the missing passwords of the job's
 * credentials. A caller without permission to start the job gets no form. A request reports deleted
 * objects before missing permissions.
 */
const relaunchForm = formOf<RelaunchService>(
  async ({ services, rules: relaunches, actor, parent }) => {
    await services.resources.assertMay(jobs, parent.id, 'start', actor);
    const needs = await relaunches.needs(parent, actor);
    const fields = fieldsOf(RelaunchBody).filter(({ name }) => name === 'hosts');
    return [...fields, ...passwordFields(needs.passwords_needed_to_start)];
  },
);

/** Launches a job again (docs/contract/launching.md#relaunch). */
@ApiTags('jobs')
@Controller('api/v2/jobs/:id/relaunch')
export class RelaunchController {
  constructor(
    private readonly resources: ResourceService,
    private readonly relaunches: RelaunchService,
  ) {}

  @Route({
    link: 'relaunch',
    operationId: 'jobs_relaunch_needs',
    summary: 'Fields of a relaunch of the job.',
    parent: jobs,
    response: RELAUNCH_NEEDS,
  })
  @Get()
  needs(@Target() job: RowOf<Job>, @CurrentActor() actor: Actor): Promise<object> {
    return this.relaunches.needs(job, actor);
  }

  /** Needs permission to launch the template of the job (`RelaunchService.assertMayRelaunch`). */
  @Idempotent()
  @Route({
    operationId: 'jobs_relaunch',
    summary: 'Launch the job again, on all hosts or on those that failed.',
    parent: jobs,
    resource: jobs,
    adds: { job: json.WIDE_INTEGER },
    rules: RelaunchService,
    openParts: relaunchForm,
    status: 201,
  })
  @Post()
  async relaunch(
    @Target() job: RowOf<Job>,
    @Body() { hosts, credential_passwords: passwords }: RelaunchBody,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const id = await this.relaunches.relaunch(job, hosts, passwords, actor);
    return launchedReply(this.resources, { id, type: 'job' }, actor);
  }
}

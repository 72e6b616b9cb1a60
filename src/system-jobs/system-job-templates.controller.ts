import { Body, Get, Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Variables } from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { parseVariables } from '../common/fields/variables.js';
import { itemAt } from '../common/invariants.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { children, SubList } from '../common/rest/sublist.js';
import { attachNotifications } from '../notifications/sublists.js';
import { launchedReply } from '../runs/launched-reply.js';
import { startedBy } from '../runs/launcher.js';
import { SystemJobLauncher } from './system-job-launcher.service.js';
import { systemJobs, systemJobTemplates } from './system-jobs.resource.js';

/** Body of a launch (docs/contract/system-jobs.md#launching). */
export class SystemJobLaunchRequest {
  @Variables({
    nullable: true,
    column: null,
    help: '`days`: age from which objects are removed; `dry_run`: true to count them only.',
  })
  extra_vars!: string | null;
}

@Resource(systemJobTemplates)
@SubList('jobs', children('jobs', { readOnly: true }))
@SubList('schedules', children('schedules'))
@SubList('notification_templates_started', attachNotifications())
@SubList('notification_templates_success', attachNotifications())
@SubList('notification_templates_error', attachNotifications())
export class SystemJobTemplatesController extends ResourceController(systemJobTemplates) {
  constructor(private readonly launcher: SystemJobLauncher) {
    super();
  }

  @Route({
    parent: systemJobTemplates,
    link: 'launch',
    operationId: 'system_job_template_launch_needs',
    summary: 'Return an empty object: a launch needs no fields.',
    response: json.object({}),
  })
  @Get(':id/launch')
  needs(): object {
    return {};
  }

  @Idempotent()
  @Route({
    parent: systemJobTemplates,
    needs: 'launch',
    resource: systemJobs,
    adds: { system_job: json.WIDE_INTEGER },
    operationId: 'system_job_template_launch',
    summary: 'Launch a system job.',
    status: 201,
  })
  @Post(':id/launch')
  async launch(
    @Target() { id: templateId }: { id: number },
    @Body() { extra_vars: text }: SystemJobLaunchRequest,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const request = {
      templateId,
      ...startedBy(actor),
      prompts: { extra_vars: parseVariables(text ?? '') },
    };
    const run = itemAt(await this.launcher.launch([request], actor), 0);
    return launchedReply(this.services.resources, run, actor);
  }
}

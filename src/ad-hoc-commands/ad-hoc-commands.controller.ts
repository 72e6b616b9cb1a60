import { Body, Post } from '@nestjs/common';
import { activityOf } from '../activity/sublists.js';
import type { Actor } from '../common/access.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor } from '../common/rest/parameters.js';
import { Resource } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { children, SubList } from '../common/rest/sublist.js';
import { RunOutputAndEventsController } from '../runs/output/run-output.controller.js';
import { RunController } from '../runs/run.controller.js';
import { adHocCommands } from './ad-hoc-commands.resource.js';

@Resource(adHocCommands)
@SubList('notifications', children('notifications', { readOnly: true }))
@SubList('activity_stream', activityOf())
export class AdHocCommandsController extends RunController(adHocCommands) {
  @Idempotent()
  @Route({
    kind: 'create',
    operationId: 'ad_hoc_commands_create',
    summary: 'Run a module on hosts of an inventory.',
    resource: adHocCommands,
    body: adHocCommands.fields,
  })
  @Post()
  async create(
    @Body() body: Record<string, unknown>,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const { resources } = this.services;
    const command = await resources.create(adHocCommands, body, actor);
    return resources.show(adHocCommands, command, actor);
  }
}

@Resource(adHocCommands, 'api/v2/ad_hoc_commands/:id')
export class AdHocCommandOutputController extends RunOutputAndEventsController {}

import { Body, Get, Post } from '@nestjs/common';
import { activityOf } from '../activity/sublists.js';
import { Char } from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { Route } from '../common/rest/route.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { attached, children, SubList } from '../common/rest/sublist.js';
import { attachLabels } from '../labels/sublists.js';
import { credentialsOfSavedLaunch } from '../prompts/sublists.js';
import { Recurrence } from './recurrence.js';
import { schedules } from './schedules.resource.js';
import { zoneNames } from './zones.js';

/** Number of occurrences in a preview. */
const PREVIEW_LENGTH = 10;

/** Body of a preview request. */
export class PreviewRequest {
  @Char({ required: true, max: null, column: null, help: 'Rule to preview.' })
  rrule!: string;
}

const TIMES = json.list(json.STRING);

@Resource(schedules)
@SubList('jobs', children('jobs', { readOnly: true }))
@SubList('credentials', credentialsOfSavedLaunch())
@SubList('labels', attachLabels())
@SubList('instance_groups', attached('instance_groups', { childNeeds: 'use' }))
@SubList('activity_stream', activityOf())
export class SchedulesController extends ResourceController(schedules) {
  @Route({
    operationId: 'schedules_preview',
    summary: 'List the next occurrences of a rule, in its time zone and in UTC.',
    status: 200,
    response: json.object({
      local: json.described(TIMES, 'Next occurrences in the time zone of the rule.'),
      utc: json.described(TIMES, 'Next occurrences in UTC.'),
    }),
  })
  @Post('preview')
  async preview(@Body() { rrule }: PreviewRequest): Promise<object> {
    const occurrences = await Recurrence.parse(rrule).upcoming(new Date(), PREVIEW_LENGTH);
    return {
      local: occurrences.map(({ local }) => local),
      utc: occurrences.map(({ utc }) => utc),
    };
  }

  @Route({
    operationId: 'schedules_zoneinfo',
    summary: 'Time zones that a schedule may name.',
    response: json.object({
      zones: json.described(json.list(json.STRING), 'Names of time zones.'),
    }),
  })
  @Get('zoneinfo')
  zones(): object {
    return { zones: zoneNames() };
  }
}

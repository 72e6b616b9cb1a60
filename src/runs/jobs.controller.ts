import { activityOf } from '../activity/sublists.js';
import { Resource } from '../common/rest/resource.controller.js';
import { children, related, SubList } from '../common/rest/sublist.js';
import { labelsOf } from '../labels/sublists.js';
import { TRUE } from '../database/sql.js';
import { RunOutputController } from './output/run-output.controller.js';
import { jobs } from './jobs.resource.js';
import { RunController } from './run.controller.js';

@Resource(jobs)
@SubList(
  'job_host_summaries',
  children('job_host_summaries', { readOnly: true, options: () => ({ visible: TRUE }) }),
)
@SubList('credentials', related('credentials'))
@SubList('labels', labelsOf())
@SubList('notifications', children('notifications', { readOnly: true }))
@SubList('activity_stream', activityOf())
export class JobsController extends RunController(jobs) {}

@Resource(jobs, 'api/v2/jobs/:id')
export class JobOutputController extends RunOutputController {}

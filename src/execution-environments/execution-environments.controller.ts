import { activityOf } from '../activity/sublists.js';
import { resource } from '../common/resource/define-resource.js';
import { CopyController } from '../common/rest/copy.controller.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { SubList, subListOf } from '../common/rest/sublist.js';
import { sql } from '../database/sql.js';
import { executionEnvironments } from './execution-environments.resource.js';

@Resource(executionEnvironments)
@SubList('activity_stream', activityOf())
@SubList(
  'unified_job_templates',
  subListOf(
    () => resource('unified_job_template'),
    ({ id }) => sql`${id} IN (t.execution_environment_id, t.default_environment_id)`,
  ),
)
export class ExecutionEnvironmentsController extends ResourceController(executionEnvironments) {}

@Resource(executionEnvironments, 'api/v2/execution_environments/:id/copy')
export class ExecutionEnvironmentCopyController extends CopyController {}

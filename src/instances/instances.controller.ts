import { Get, Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { related, SubList } from '../common/rest/sublist.js';
import type { Instance } from './instance.entity.js';
import { instanceGroups } from './instance-groups.resource.js';
import { instances } from './instances.resource.js';
import { InstancesRepository } from './instances.repository.js';
import { groupsOfMachine } from './sublists.js';

/** Fields of an instance that its workers determine. */
const HEALTH = {
  hostname: json.described(json.STRING, 'Name of the instance.'),
  version: json.described(json.STRING, 'Version of the worker.'),
  cpu: json.described(json.STRING, 'Number of processors.'),
  memory: json.described(json.WIDE_INTEGER, 'Memory in bytes.'),
  cpu_capacity: json.described(json.INTEGER, 'Forks by processors.'),
  mem_capacity: json.described(json.INTEGER, 'Forks by memory.'),
  capacity: json.described(json.INTEGER, 'Forks that the instance offers.'),
  isolation: json.described(json.STRING, 'Sandbox of the runs.'),
  container_engine: json.described(json.STRING, 'Version of Podman or Docker; empty without one.'),
  ansible_version: json.described(json.STRING, 'Version of ansible-core.'),
  ansible_runner_version: json.described(json.STRING, 'Version of ansible-runner.'),
  errors: json.described(json.STRING, 'Reason why the instance takes no runs.'),
  health_check_started: json.described(
    json.orNull(json.INSTANT),
    'Time at which the check was requested.',
  ),
  health_check_pending: json.described(json.BOOLEAN, 'True until the instance has reported.'),
  last_health_check: json.described(json.orNull(json.INSTANT), 'Time of the last report.'),
};

@Resource(instances)
@SubList('jobs', related('jobs'))
@SubList('instance_groups', groupsOfMachine(instanceGroups))
export class InstancesController extends ResourceController(instances) {
  constructor(private readonly rows: InstancesRepository) {
    super();
  }

  @Route({
    parent: instances,
    link: 'health_check',
    operationId: 'instances_health_check_read',
    summary: 'Results of the last health check of the instance.',
    response: json.object(HEALTH),
  })
  @Get(':id/health_check')
  async health(@Target() row: RowOf<Instance>, @CurrentActor() actor: Actor): Promise<object> {
    const shown = await this.services.resources.show(instances, row, actor);
    return Object.fromEntries(Object.keys(HEALTH).map((name) => [name, shown[name]]));
  }

  @Route({
    parent: instances,
    needs: 'change',
    operationId: 'instances_health_check_start',
    summary: 'Start a health check by the workers of the instance.',
    status: 200,
    response: json.object({ msg: json.described(json.STRING, 'Confirmation, as a sentence.') }),
  })
  @Post(':id/health_check')
  async check(@Target() { id, hostname }: RowOf<Instance>): Promise<object> {
    // A transaction begins with a check that the caller still has the permission.
    const isNew = await this.services.database.transaction(() => this.rows.requestCheck(id));
    const state = isNew ? 'is running' : 'was already in progress';
    return { msg: `Health check ${state} for ${hostname}.` };
  }
}

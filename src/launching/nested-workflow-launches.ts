import { Injectable } from '@nestjs/common';
import type { LaunchRequest } from './launch-request.js';
import { NestedLaunches, type NestedLaunch, type NestedRun } from './nested-launches.js';
import { WorkflowLaunchService } from './workflow-launch.service.js';

/** How the engine starts workflows inside workflows. */
@Injectable()
export class NestedWorkflowLaunches extends NestedLaunches {
  constructor(private readonly launches: WorkflowLaunchService) {
    super();
  }

  launch(requests: readonly NestedLaunch[]): Promise<NestedRun[]> {
    return this.launches.spawn(requests.map(requestOf));
  }
}

/** The event's variables reach the runs below; its service is told of the outermost run alone. */
const requestOf = ({ deliveryId, ...nested }: NestedLaunch): LaunchRequest => ({
  ...nested,
  launchType: 'workflow',
  ...(deliveryId === null
    ? {}
    : { webhook: { service: '', credentialId: null, guid: '', deliveryId } }),
});

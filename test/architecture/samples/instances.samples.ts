import { sql } from '../../../src/database/sql.js';
import { InstanceGroupsRepository } from '../../../src/instances/instance-groups.repository.js';
import * as instances from '../../../src/instances/instances.repository.js';
import * as workerNodes from '../../../src/instances/worker-nodes.repository.js';
import { SOMEBODY } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type RoomSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(InstanceGroupsRepository, { usable: [[[1], SOMEBODY]] }),
    samplesOf(instances.InstancesRepository, { loads: [[[1]]], isolations: [[]] }),
    samplesOf(workerNodes.WorkerNodesRepository, { load: [[]] }),
  ],
  fragments: [
    fragmentsOf(instances, {
      hostnameOf: [[sql`1`]],
      liveIsolations: { calls: [[]], inside: (statement) => statement },
    }),
    fragmentsOf(workerNodes, { liveNodes: { calls: [[]], inside: asQuery } }),
  ],
} satisfies RoomSamples;

import { sql, type Sql } from '../../../src/database/sql.js';
import * as groups from '../../../src/instances/instance-groups.repository.js';
import * as instances from '../../../src/instances/instances.repository.js';
import * as workerNodes from '../../../src/instances/worker-nodes.repository.js';
import { CALLER } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const ofInstances = (value: Sql): Sql => sql`SELECT ${value} FROM instances`;

export default {
  repositories: [
    samplesOf(groups.InstanceGroupsRepository, {
      usable: [[[1], CALLER]],
      machines: [[]],
      overview: [[]],
      policies: [[]],
      eligible: [[]],
      changeMembers: [[[{ group: 1, machine: 2 }], [{ group: 1, machine: 3 }]]],
    }),
    samplesOf(instances.InstancesRepository, {
      loads: [[[1]]],
      isolations: [[]],
      known: [[['here']]],
      requestCheck: [[1]],
      removeEphemeral: [['here'], [null]],
      alive: [[]],
      nodes: [[]],
      storeHeartbeat: [
        [
          {
            ...{ hostname: 'here', version: '1', cpu: 2, memory: 4, cpu_capacity: 8 },
            ...{ mem_capacity: 1, isolation: 'bubblewrap', isolation_detail: '' },
            is_ephemeral: false,
          },
          {
            container_engine: 'podman version 4.3.1',
            ansible_version: '2.19.14',
            ansible_runner_version: '2.4.3',
          },
        ],
      ],
    }),
    samplesOf(workerNodes.WorkerNodesRepository, {
      load: [[]],
      loadOfGroups: [[[1]]],
      storeHeartbeat: [
        [
          {
            ...{ name: 'here/1', hostname: 'here', host_key: 'h', pid: 1 },
            ...{ start_time: '1', capacity: 2 },
          },
        ],
      ],
      ofHost: [['h']],
      removeLost: [[['here/1']]],
    }),
  ],
  fragments: [
    fragmentsOf(groups, {
      groupsOf: { calls: [[sql`1`]], inside: asQuery },
      mayStartOn: [[sql`1`, sql`'here'`, sql`true`]],
      preferredGroupsOf: { calls: [['job_template', sql`1`]], inside: asQuery },
      copyPreferredGroups: {
        calls: [['inventory', { original: 1, copy: 2 }, CALLER]],
        inside: (statement) => statement,
      },
      usableGroups: { calls: [[CALLER]], inside: asQuery },
      defaultGroups: [[]],
      existingGroups: [[]],
      groupNames: { calls: [[]], inside: asQuery },
      groupStates: {
        calls: [[sql`SELECT 'here' AS hostname, 1 AS runs, 1 AS forks`]],
        inside: asQuery,
      },
      updatePolicyList: { calls: [[1, 'here', true]], inside: (statement) => statement },
    }),
    fragmentsOf(instances, {
      instanceHostnameOf: [[sql`1`]],
      liveIsolations: { calls: [[]], inside: (statement) => statement },
    }),
    fragmentsOf(workerNodes, {
      liveNodes: { calls: [[]], inside: asQuery },
      readyMachines: { calls: [[]], inside: asQuery },
      isCheckPending: { calls: [['instances']], inside: ofInstances },
      nodeState: { calls: [['instances']], inside: ofInstances },
      nodeErrors: { calls: [['instances']], inside: ofInstances },
    }),
  ],
} satisfies FeatureSamples;

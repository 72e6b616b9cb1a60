import type { Outbox } from '../../common/queue/outbox.service.js';
import type { InstancesRepository } from '../../instances/instances.repository.js';
import type { WorkerNodesRepository } from '../../instances/worker-nodes.repository.js';
import type { ProjectFolders } from '../../projects/project-folders.service.js';
import type { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import type { RunTransitions } from '../../runs/run-transitions.service.js';
import type { SandboxService } from '../sandbox/sandbox.service.js';
import type { ActiveRuns } from './active-runs.service.js';
import { Recovery } from './recovery.service.js';
import type { WorkerNode } from './worker-node.service.js';

it('a run that cannot be recovered does not prevent the recovery of other runs', async () => {
  const stale = [1, 2].map((id) => ({ id, attempt: 2, cancel_requested: true, is_local: false }));
  const ended: number[] = [];
  let reconciled = 0;
  const recovery = new Recovery(
    { claim: async () => stale } as unknown as RunLeasesRepository,
    {
      move: async ([{ id }]: [{ id: number }]) => {
        if (id === 1) throw new Error('a listener failed');
        ended.push(id);
      },
    } as unknown as RunTransitions,
    { reconcile: async () => (reconciled += 1) } as unknown as Outbox,
    { ids: [] } as unknown as ActiveRuns,
    {
      deadOnThisHost: async () => [],
      name: async () => 'this',
      hostPrefix: async () => 'host/',
    } as unknown as WorkerNode,
    { removeLost: async () => {} } as unknown as WorkerNodesRepository,
    { removeEphemeral: async () => {} } as unknown as InstancesRepository,
    {} as SandboxService,
    {} as ProjectFolders,
  );
  await recovery.round();
  expect({ ended, reconciled }).toEqual({ ended: [2], reconciled: 1 });
});

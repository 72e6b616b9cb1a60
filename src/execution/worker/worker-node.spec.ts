import { totalmem } from 'node:os';
import { Settings } from '../../config/settings.js';
import type { InstancesRepository } from '../../instances/instances.repository.js';
import type { WorkerNodesRepository } from '../../instances/worker-nodes.repository.js';
import type { SandboxService } from '../sandbox/sandbox.service.js';
import { WorkerNode } from './worker-node.service.js';

/** Engines that the heartbeats stored; null: the engine was not checked again. */
let stored: (string | null)[];
/** Memory that the last heartbeat stored, in bytes. */
let memory: number;
let requested: string | null;
let probes: (() => Promise<void>)[];
let node: WorkerNode;
/** Callback of the timer of the next heartbeat. */
let due: () => void;

beforeEach(async () => {
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((next) => {
    due = next;
    return { unref: () => undefined } as unknown as NodeJS.Timeout;
  });
  [stored, requested, probes] = [[], null, []];
  const settings = Settings.load({
    ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
    ...{ DATA_DIR: '/srv/data' },
  });
  node = new WorkerNode(
    {
      storeHeartbeat: async () => {},
      removeLost: async () => {},
    } as unknown as WorkerNodesRepository,
    {
      storeHeartbeat: async (machine: { memory: number }, programs: string | null) => {
        stored.push(programs);
        memory = machine.memory;
        return requested;
      },
    } as unknown as InstancesRepository,
    settings,
    {
      isolation: async () => ({ mode: 'none', detail: '' }),
      refusal: async () => null,
      programs: async () => 'tried',
      probe: () => probes.shift()?.() ?? Promise.reject(new Error('a probe too many')),
    } as unknown as SandboxService,
  );
  await node.onApplicationBootstrap();
});
afterEach(async () => {
  await node.onModuleDestroy();
  jest.restoreAllMocks();
});

/** Performs the next heartbeat, and waits for its effects. */
async function beat(): Promise<void> {
  due();
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

it('a worker checks its engine at the start, and again only when a health check is requested', async () => {
  await beat();
  expect(stored).toEqual(['tried', null]);
});

it('a worker performs each health check once, and again if it failed', async () => {
  requested = '2026-01-01T00:00:00Z';
  probes = [() => Promise.reject(new Error('no database')), () => Promise.resolve()];
  await beat();
  expect(stored).toEqual(['tried', null]);
  await beat();
  expect(stored).toEqual(['tried', null, null, 'tried']);
  await beat();
  expect(stored).toEqual(['tried', null, null, 'tried', null]);
});

it('a worker sends heartbeats during a slow health check', async () => {
  requested = '2026-01-01T00:00:00Z';
  let end = (): void => undefined;
  probes = [() => new Promise((resolve) => (end = resolve))];
  await beat();
  await beat();
  expect(stored).toEqual(['tried', null, null]);
  end();
  await beat();
  expect(stored.filter((engine) => engine !== null)).toHaveLength(2);
});

it.each([
  ['a container with a limit', 2 ** 30, 2 ** 30],
  ['a container without a limit', 2 ** 63, totalmem()],
  ['a machine', 0, totalmem()],
])('a worker in %s reports the memory that it can use', async (_where, limit, usable) => {
  jest.spyOn(process, 'constrainedMemory').mockReturnValue(limit);
  await beat();
  expect(memory).toBe(usable);
});

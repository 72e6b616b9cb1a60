import { join } from 'node:path';

import { Settings } from '../../src/config/settings.js';
import { SandboxService } from '../../src/execution/sandbox/sandbox.service.js';
import { type Sandbox, directLaunch } from '../../src/execution/sandbox/command.js';
import { Containers, MAY_USE_CONTAINERS } from '../support/containers.js';
import { IS_DEEP } from '../support/depth.js';

/** Sandbox of `JOB_ISOLATION=none`, which isolates nothing. */
export const OPEN: Sandbox = { wrap: (command) => Promise.resolve(directLaunch(command)) };

/**
 * Creates the sandbox of a worker.
 *
 * @param folder of the test; the worker's data is below it
 */
export async function sandboxIn(folder: string, settings: object = {}): Promise<SandboxService> {
  const loaded = Settings.load({
    ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
    ...{ DATA_DIR: join(folder, 'data'), JOB_ISOLATION: 'bubblewrap' },
    ...settings,
  });
  const sandbox = new SandboxService(loaded, undefined as never);
  const refusal = await sandbox.refusal();
  if (refusal !== null) throw new Error(refusal);
  return sandbox;
}

/** Kinds of sandboxes. */
export type SandboxKind = 'bubblewrap' | 'container' | 'none';

/** Kinds of sandboxes that this machine supports, with their names in tests. */
export const SANDBOXES: readonly (readonly [name: string, kind: SandboxKind])[] = [
  ['inside bubblewrap', 'bubblewrap'],
  ...(MAY_USE_CONTAINERS ? [['in a container', 'container'] as const] : []),
  ['without a sandbox', 'none'],
];

/**
 * Returns true if all tests run with a kind of sandbox. A normal run uses the other kinds only for tests of
 * differences between them: files, accounts, credentials, the network and the end of commands.
 */
export const isFull = (kind: SandboxKind): boolean => IS_DEEP || kind === 'bubblewrap';

/** Sandbox, with a function that removes it. */
export interface TestSandbox {
  readonly sandbox: Sandbox;
  end(): Promise<void>;
}

/** @param folder as {@link sandboxIn} takes it */
export async function createTestSandbox(kind: SandboxKind, folder: string): Promise<TestSandbox> {
  if (kind === 'none') return { sandbox: OPEN, end: () => Promise.resolve() };
  const containers = kind === 'container' ? await Containers.prepare() : null;
  const sandbox = await sandboxIn(folder, containers?.settings);
  return { sandbox, end: async () => containers?.remove() };
}

import { join } from 'node:path';

import { Settings } from '../../src/config/settings.js';
import { Boundary } from '../../src/execution/boundary/boundary.service.js';
import { type Fence, openLaunch } from '../../src/execution/boundary/command.js';
import { Containers, MAY_USE_CONTAINERS } from '../support/containers.js';
import { IS_DEEP } from '../support/depth.js';

/** No boundary at all, as with `JOB_ISOLATION=none`. */
export const OPEN: Fence = { wrap: (command) => Promise.resolve(openLaunch(command)) };

/**
 * The boundary of a worker.
 *
 * @param folder of the test; the worker's data is below it
 */
export async function boundaryIn(folder: string, settings: object = {}): Promise<Boundary> {
  const loaded = Settings.load({
    ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
    ...{ DATA_DIR: join(folder, 'data'), JOB_ISOLATION: 'bubblewrap' },
    ...settings,
  });
  const boundary = new Boundary(loaded, undefined as never);
  const refusal = await boundary.refusal();
  if (refusal !== null) throw new Error(refusal);
  return boundary;
}

/** What commands are kept apart by. */
export type FenceKind = 'bubblewrap' | 'container' | 'none';

/** All that can be tried here, in words and by kind. */
export const FENCES: readonly (readonly [name: string, kind: FenceKind])[] = [
  ['inside bubblewrap', 'bubblewrap'],
  ...(MAY_USE_CONTAINERS ? [['in a container', 'container'] as const] : []),
  ['without a boundary', 'none'],
];

/**
 * Returns true when all tests run with a fence. A normal run uses the other fences only for what depends on
 * them: files, accounts, credentials, the network and the end of commands.
 */
export const isFull = (kind: FenceKind): boolean => IS_DEEP || kind === 'bubblewrap';

/** A fence, and what takes it down. */
export interface RaisedFence {
  readonly fence: Fence;
  end(): Promise<void>;
}

/** @param folder as {@link boundaryIn} takes it */
export async function raiseFence(kind: FenceKind, folder: string): Promise<RaisedFence> {
  if (kind === 'none') return { fence: OPEN, end: () => Promise.resolve() };
  const containers = kind === 'container' ? await Containers.prepare() : null;
  const fence = await boundaryIn(folder, containers?.settings);
  return { fence, end: async () => containers?.remove() };
}

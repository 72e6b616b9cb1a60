import { join } from 'node:path';

import { Settings } from '../../src/config/settings.js';
import { Boundary } from '../../src/execution/boundary/boundary.service.js';
import { type Fence, openLaunch } from '../../src/execution/boundary/command.js';

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

import { Forbidden } from '../common/errors/errors.js';
import type { UserStore } from './user-store.js';

/**
 * Keeps an installation from losing its last superuser. To be called in the transaction that takes
 * the flag or the user away; the lock makes two such requests wait for each other.
 *
 * @throws Forbidden with `detail` when nobody else is superuser
 */
export async function assertOtherSuperuser(
  users: UserStore,
  userId: number,
  detail: string,
): Promise<void> {
  const superusers = await users.lockSuperusers();
  if (superusers.every((id) => id === userId)) throw new Forbidden(detail);
}

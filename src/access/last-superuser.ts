import { Forbidden } from '../common/errors/errors.js';
import type { UserStore } from './user-store.js';

/**
 * Prevents an installation from losing its last superuser. Must be called in the transaction that removes
 * the flag or the user; the lock serializes concurrent requests.
 *
 * @throws Forbidden with `detail` if no other superuser exists
 */
export async function assertOtherSuperuser(
  users: UserStore,
  userId: number,
  detail: string,
): Promise<void> {
  const superusers = await users.lockSuperusers();
  if (superusers.every((id) => id === userId)) throw new Forbidden(detail);
}

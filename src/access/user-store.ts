import { Forbidden } from '../common/errors/errors.js';

/** Flags of users that represent the system-wide roles. */
export type SystemFlag = 'is_superuser' | 'is_system_auditor';

/** Flags by the field of their system-wide role. */
export const SYSTEM_FLAGS: Readonly<Record<string, SystemFlag>> = {
  system_administrator: 'is_superuser',
  system_auditor: 'is_system_auditor',
};

/** Queries on users for roles, which belong to a lower layer. Implemented by the users module. */
export abstract class UserStore {
  /**
   * Returns the ids of all superusers who are not disabled. None of them can lose the flag or be disabled
   * before the transaction ends.
   */
  abstract lockSuperusers(): Promise<number[]>;
  /** Returns true if another user is a superuser and is not disabled. */
  abstract hasOtherSuperuser(user: number): Promise<boolean>;
  /** @returns true if the flag changed */
  abstract setFlag(user: number, flag: SystemFlag, value: boolean): Promise<boolean>;
}

/** Operations on flags that logins set. Implemented by the identity feature. */
export abstract class ExternalFlagStore {
  /** Records that a flag of a user is set by hand, so that no login clears it. */
  abstract keepFlag(user: number, flag: SystemFlag): Promise<void>;
}

/**
 * Prevents an installation from losing its last superuser who can log in. Must be called in the transaction
 * that removes the flag or the user; the lock serializes concurrent requests.
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

/** Flags of users that represent the system-wide roles. */
export type SystemFlag = 'is_superuser' | 'is_system_auditor';

/** Queries on users for roles, which belong to a lower layer. Implemented by the users module. */
export abstract class UserStore {
  /** Returns the ids of all superusers. None of them can lose the flag before the transaction ends. */
  abstract lockSuperusers(): Promise<number[]>;
  /** @returns true if the flag changed */
  abstract setFlag(user: number, flag: SystemFlag, value: boolean): Promise<boolean>;
}

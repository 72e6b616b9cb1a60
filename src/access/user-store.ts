/** Flags of users that stand for the roles of the whole system. */
export type SystemFlag = 'is_superuser' | 'is_system_auditor';

/** What roles need of users, a room above them. Implemented by the users module. */
export abstract class UserStore {
  /** Ids of all superusers; none of them ceases to be one before the transaction ends. */
  abstract lockSuperusers(): Promise<number[]>;
  /** @returns whether the user had it otherwise */
  abstract setFlag(user: number, flag: SystemFlag, value: boolean): Promise<boolean>;
}

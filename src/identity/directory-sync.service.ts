import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ActivityRecorder } from '../common/activity/activity.js';
import { Repeated } from '../common/repeated-work.js';
import { Database } from '../database/database.js';
import { UsersRepository } from '../users/users.repository.js';
import { users as userResource } from '../users/users.resource.js';
import type { AuthenticatorOf } from './authenticator.entity.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';
import {
  ExternalIdentitiesRepository,
  type DirectoryAccount,
} from './external-identities.repository.js';
import { LdapClient } from './ldap-client.service.js';

const INTERVAL_MS = 60_000;
/** Maximum number of accounts in one search. */
const BATCH = 100;

/**
 * Disables users whose accounts are no longer in their directory, and enables them again when the
 * accounts return (docs/single-sign-on.md#synchronization). Runs in the worker process only.
 */
@Injectable()
export class DirectorySync implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('SingleSignOn');
  private readonly syncs = new Repeated(() => this.syncDue(), {
    everyMs: INTERVAL_MS,
    logger: this.logger,
    failure: 'synchronization failed',
  });

  constructor(
    private readonly database: Database,
    private readonly authenticators: AuthenticatorsRepository,
    private readonly identities: ExternalIdentitiesRepository,
    private readonly users: UsersRepository,
    private readonly client: LdapClient,
    private readonly activity: ActivityRecorder,
  ) {}

  onApplicationBootstrap(): void {
    this.syncs.start(INTERVAL_MS);
  }

  onModuleDestroy(): Promise<void> {
    return this.syncs.stop();
  }

  /**
   * Synchronizes the directories that are due. One worker claims each directory.
   *
   * @throws Unavailable if a directory is unavailable; the next call synchronizes the other due
   *   directories
   */
  async syncDue(): Promise<void> {
    for (;;) {
      const directory = await this.authenticators.claimDue();
      if (!directory) return;
      await this.sync(directory);
    }
  }

  /** @throws Unavailable without a change if the directory is unavailable */
  private async sync(directory: AuthenticatorOf<'ldap'>): Promise<void> {
    const { id, slug: authenticator } = directory;
    const accounts = await this.identities.directoryAccounts(id);
    const present = new Set<string>();
    for (let start = 0; start < accounts.length; start += BATCH) {
      const subjects = accounts.slice(start, start + BATCH).map(({ subject }) => subject);
      for (const subject of await this.client.present(directory, subjects)) present.add(subject);
    }
    if (accounts.length > 1 && present.size === 0) {
      // A wrong search base or a lost permission is more likely than a directory without users.
      this.logger.warn({ message: 'synchronization skipped: no account found', authenticator });
      return;
    }
    const changed = accounts.filter(
      ({ subject, is_disabled: isDisabled }) => present.has(subject) === isDisabled,
    );
    let count = 0;
    for (const account of changed) {
      if (await this.setDisabled(account, !present.has(account.subject))) count++;
    }
    if (count > 0) this.logger.log({ message: 'directory synchronized', authenticator, count });
  }

  /**
   * Disables or enables the user of an account.
   *
   * @returns false if the user was changed in the meantime, or is the last superuser
   */
  private setDisabled({ user_id: id }: DirectoryAccount, isDisabled: boolean): Promise<boolean> {
    return this.database.transaction(async () => {
      const others = (await this.users.lockSuperusers()).filter((other) => other !== id);
      const user = await this.users.referenced(id);
      if (isDisabled && user.is_superuser && others.length === 0) return false;
      if (!(await this.users.setDisabled(id, isDisabled))) return false;
      this.activity.recordUpdate(userResource, user, { is_disabled: [!isDisabled, isDisabled] });
      return true;
    });
  }
}

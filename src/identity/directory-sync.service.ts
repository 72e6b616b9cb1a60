import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { messageOf } from '../common/errors/message-of.js';
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
/** Maximum number of accounts that one search looks for. */
const BATCH = 100;

/**
 * Disables the users that directories no longer have, and enables them again when they return
 * (docs/single-sign-on.md#synchronization). Runs in the worker process only.
 */
@Injectable()
export class DirectorySync implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('SingleSignOn');
  private timer: NodeJS.Timeout | undefined;
  private syncing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly authenticators: AuthenticatorsRepository,
    private readonly identities: ExternalIdentitiesRepository,
    private readonly users: UsersRepository,
    private readonly client: LdapClient,
    private readonly activity: ActivityRecorder,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.syncing = this.syncDue();
    }, INTERVAL_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.syncing;
  }

  /** Synchronizes the directories that are due. Each is claimed by one worker. Never throws. */
  async syncDue(): Promise<void> {
    try {
      for (;;) {
        const directory = await this.authenticators.claimDue();
        if (!directory) return;
        await this.sync(directory);
      }
    } catch (error) {
      this.logger.warn({ message: 'synchronization failed', reason: messageOf(error) });
    }
  }

  /** @throws Unavailable if the directory is away; nothing is changed then */
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
      if (await this.change(account, !present.has(account.subject))) count++;
    }
    if (count > 0) this.logger.log({ message: 'directory synchronized', authenticator, count });
  }

  /** @returns false if the user was changed in the meantime, or is the last superuser */
  private change({ user_id: id }: DirectoryAccount, isDisabled: boolean): Promise<boolean> {
    return this.database.transaction(async () => {
      const others = (await this.users.lockSuperusers()).filter((one) => one !== id);
      const user = await this.users.referenced(id);
      if (isDisabled && user.is_superuser && !(await this.users.anyCanLogIn(others))) return false;
      if (!(await this.users.setDisabled(id, isDisabled))) return false;
      this.activity.record({
        operation: 'update',
        object1: refOf(userResource, user),
        changes: { is_disabled: [!isDisabled, isDisabled] },
      });
      return true;
    });
  }
}

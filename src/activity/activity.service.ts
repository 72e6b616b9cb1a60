import { Injectable } from '@nestjs/common';
import { ActivityRecorder, type ActivityEntry } from '../common/activity/activity.js';
import { currentActor } from '../common/http/request-scope.js';
import { Database } from '../database/database.js';
import { ActivityRepository } from './activity.repository.js';

/** Collects the entries of a transaction and writes them with one statement before the commit. */
@Injectable()
export class ActivityService extends ActivityRecorder {
  private readonly pending = new WeakMap<object, ActivityEntry[]>();

  constructor(
    private readonly database: Database,
    private readonly entries: ActivityRepository,
  ) {
    super();
  }

  /** Each entry has its own hook, so that a rollback to a savepoint also removes its entries. */
  record(entry: ActivityEntry): void {
    const key = this.database.transactionKey;
    this.database.beforeCommit(async () => {
      const entries = this.pending.get(key);
      if (entries) {
        entries.push(entry);
        return;
      }
      const first = [entry];
      this.pending.set(key, first);
      // Runs after the hooks of the other entries.
      this.database.beforeCommit(() => {
        this.pending.delete(key);
        const actor = currentActor();
        return this.entries.record(first, actor && actor.id !== 0 ? actor : null);
      });
    });
  }
}

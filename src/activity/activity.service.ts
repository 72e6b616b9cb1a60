import { Injectable } from '@nestjs/common';
import { ActivityRecorder, type ActivityEntry } from '../common/activity/activity.js';
import { currentActor } from '../common/http/request-scope.js';
import { Database } from '../database/database.js';
import { insertRows } from '../database/rows.js';

const COLUMNS = {
  operation: 'text',
  object1: 'text',
  object1_id: 'integer',
  object1_name: 'text',
  object2: 'text',
  object2_id: 'integer',
  object2_name: 'text',
  object_association: 'text',
  object_type: 'text',
  organization_id: 'integer',
  parent_type: 'text',
  parent_id: 'integer',
  changes: 'json',
  actor_id: 'integer',
  actor_snapshot: 'json',
};

/** Collects the entries of a transaction and writes them in one statement before it commits. */
@Injectable()
export class ActivityService extends ActivityRecorder {
  private readonly pending = new WeakMap<object, ActivityEntry[]>();

  constructor(private readonly database: Database) {
    super();
  }

  record(entry: ActivityEntry): void {
    const key = this.database.transactionKey;
    const entries = this.pending.get(key);
    if (entries) {
      entries.push(entry);
      return;
    }
    const first = [entry];
    this.pending.set(key, first);
    this.database.beforeCommit(() => {
      this.pending.delete(key);
      return this.write(first);
    });
  }

  private async write(entries: readonly ActivityEntry[]): Promise<void> {
    const actor = currentActor();
    const author = actor && actor.id !== 0 ? actor : null;
    const snapshot = author && { username: author.username };
    await this.database.preparedRows(
      insertRows(
        'activity_stream',
        COLUMNS,
        entries.map(({ operation, object1, object2, association, objectType, changes }) => [
          operation,
          object1.type,
          object1.id,
          object1.name,
          object2?.type ?? '',
          object2?.id ?? null,
          object2?.name ?? '',
          association ?? '',
          objectType ?? '',
          object1.organizationId ?? object2?.organizationId ?? null,
          object1.parent?.type ?? null,
          object1.parent?.id ?? null,
          JSON.stringify(changes),
          author?.id ?? null,
          snapshot ? JSON.stringify(snapshot) : null,
        ]),
      ),
    );
  }
}

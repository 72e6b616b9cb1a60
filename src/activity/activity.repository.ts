import { Injectable } from '@nestjs/common';
import { roleNamed } from '../access/roles.repository.js';
import type { ActivityEntry } from '../common/activity/activity.js';
import type { Actor } from '../common/access.js';
import { Settings } from '../config/settings.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { insertWithDeliveries } from './activity-deliveries.repository.js';
import { ActivityStreamEntry } from './activity-stream-entry.entity.js';

/** Copies of data about the author and the objects of an entry, in case they are deleted later. */
export interface DescribedEntry {
  id: number;
  actor_id: number | null;
  actor_snapshot: Record<string, unknown> | null;
  object1: string;
  object1_id: number | null;
  object1_name: string;
  object2: string;
  object2_id: number | null;
  object2_name: string;
  /** Type of the object and field of a role that was granted or revoked. */
  role: string | null;
  /** Id of this role while the role exists. */
  role_id: number | null;
}

/**
 * Returns the query for the role that an entry granted or revoked.
 *
 * @param entry id of the entry
 */
export const grantedRole = (entry: Sql): Sql => sql`
  SELECT CASE WHEN grt.object2 = 'role' THEN grt.object2_id ELSE (${roleNamed(
    sql`grt.object_type`,
    sql`grt.object2_id`,
    sql`split_part(grt.changes->>'relationship', '.', 2)`,
  )}) END
  FROM activity_stream grt WHERE grt.id = ${entry} AND grt.object_association = 'role'`;

/** Returns the query for the stored copies (`DescribedEntry`) of entries. */
export const describedEntries = (ids: readonly number[]): Sql => sql`
  SELECT id, actor_id, actor_snapshot, object1, object1_id, object1_name,
    object2, object2_id, object2_name, role,
    (${grantedRole(sql`activity_stream.id`)}) AS role_id
  FROM activity_stream CROSS JOIN LATERAL (
    SELECT CASE WHEN object_association = 'role' THEN changes ->> 'relationship' END AS role) given
  WHERE id = ANY(${ids}::bigint[])`;

@Injectable()
export class ActivityRepository extends TableRepository<DescribedEntry> {
  constructor(
    @InjectRepository(ActivityStreamEntry) repository: Repository<ActivityStreamEntry>,
    private readonly settings: Settings,
  ) {
    super(repository);
  }

  /** @param author user who made all the changes; null if no user account did */
  async record(
    entries: readonly ActivityEntry[],
    author: Pick<Actor, 'id' | 'username'> | null,
  ): Promise<void> {
    const snapshot = author && JSON.stringify({ username: author.username });
    const rows = entries.map(
      ({ operation, object1, object2, association, objectType, changes }) => ({
        operation,
        object1: object1.type,
        object1_id: object1.id,
        object1_name: object1.name,
        object2: object2?.type ?? '',
        object2_id: object2?.id ?? null,
        object2_name: object2?.name ?? '',
        object_association: association ?? '',
        object_type: objectType ?? '',
        organization_id: object1.organizationId ?? object2?.organizationId ?? null,
        parent_type: object1.parent?.type ?? null,
        parent_id: object1.parent?.id ?? null,
        changes: JSON.stringify(changes),
        actor_id: author?.id ?? null,
        actor_snapshot: snapshot,
      }),
    );
    const insert = this.insertion(rows);
    await this.database.deferToCommit(
      this.database.preparedRows(insertWithDeliveries(insert, this.settings)),
    );
  }

  /** Returns the number of entries older than `days` days. */
  countOld(days: number): Promise<number> {
    return this.countOlder({ column: 'timestamp', days });
  }

  /**
   * Returns the folders among `paths` of projects that were deleted while they had a source. The folder of a
   * manual project contains files of its user, also if the server has named the folder.
   */
  async deletedProjectFolders(paths: readonly string[]): Promise<string[]> {
    const rows = await this.database.rows<{ path: string }>(sql`
      SELECT path FROM unnest(${paths}::text[]) AS path
      WHERE EXISTS (
        SELECT 1 FROM activity_stream WHERE operation = 'delete' AND object1 = 'project'
          AND object1_id = substring(path FROM '^_([0-9]{1,15})__')::bigint
          AND changes ->> 'local_path' = path AND changes ->> 'scm_type' <> '')`);
    return rows.map(({ path }) => path);
  }

  /** Deletes up to `limit` entries older than `days` days. */
  removeOld(days: number, limit: number): Promise<number> {
    return this.removeOlder({ column: 'timestamp', days }, limit);
  }
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { ManyToMany, Row, RowOf } from '../common/resource/define-resource.js';
import { selectLinks } from '../common/resource/select-rows.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { rowCount, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { Label } from './label.entity.js';

/** Label of an object, with the number of labels of the object. */
export interface AttachedLabel {
  owner_id: number;
  id: number;
  name: string;
  total: number;
}

/** Returns the query for labels, for joins in statements of other tables. */
export const allLabels = (): Sql => sql`SELECT id, name, organization_id FROM labels`;

/** Returns the query for the first labels (`AttachedLabel`) of objects of one type, by name. */
export const attachedLabels = (link: ManyToMany, ids: readonly number[], limit: number): Sql => sql`
  SELECT owner.id AS owner_id, label.id, label.name, label.total
  FROM unnest(${ids}::bigint[]) AS owner (id) CROSS JOIN LATERAL (
    SELECT lab.id, lab.name, count(*) OVER ()::int AS total
    FROM (${selectLinks(link)}) lnk JOIN labels lab ON lab.id = lnk.target_id
    WHERE lnk.source_id = owner.id ORDER BY lab.name, lab.id LIMIT ${rowCount(limit)}) AS label`;

@Injectable()
export class LabelsRepository extends TableRepository<RowOf<Label>> {
  constructor(@InjectRepository(Label) repository: Repository<Label>) {
    super(repository);
  }

  /** Returns the id of a label, as a row. */
  byName(name: unknown, organization: unknown): Promise<Row | undefined> {
    return this.database.row<Row>(sql`
      SELECT id FROM labels WHERE name = ${name} AND organization_id = ${organization}`);
  }

  /**
   * Returns the labels of a launch, and locks them against deletion. A caller can use the labels that they
   * can read.
   *
   * @param actor null: all labels are usable
   */
  usable(
    ids: readonly number[],
    actor: Actor | null,
  ): Promise<{ id: number; name: string; may_use: boolean }[]> {
    return this.database.preparedRows(sql`
      SELECT l.id, l.name, (${permitOrAny('label', 'read', 'l', actor)}) AS may_use
      FROM labels l WHERE l.id = ANY(${ids}::int[]) FOR KEY SHARE`);
  }
}

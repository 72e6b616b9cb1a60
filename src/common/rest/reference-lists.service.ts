import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { and, ident, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { idList, idsIn } from '../resource/ids.js';

/** More than this is searched instead of listed. */
const MAX_CHOICES = 50;

/** Objects a reference may be set to, for a select. */
export interface ReferenceList {
  options: readonly (readonly [id: string, label: string, kind?: string])[];
  /** There are more than are listed. */
  hasMore: boolean;
}

/** Lists what a caller may choose in a form, by the same rules that check the form later. */
@Injectable()
export class ReferenceLists {
  constructor(private readonly database: Database) {}

  /**
   * @param action what the caller must be allowed to do with the object
   * @param chosen ids that are listed in any case when the caller may read them
   * @param scope what else an object has to be, to be offered
   */
  async load(
    target: ResourceDefinition,
    action: string,
    chosen: unknown,
    actor: Actor,
    scope: (alias: string) => Sql = () => TRUE,
  ): Promise<ReferenceList> {
    const column = labelColumn(target);
    if (column === null) return { options: [], hasMore: true };
    const allowed = permit(target.policy, action, 'r', actor);
    const kind = target.pages.kind?.('r') ?? sql`NULL::text`;
    const rows = await this.database.rows<{ id: number; label: string; kind: string | null }>(sql`
      (SELECT r.id, ${ident('r', column)} AS label, ${kind} AS kind FROM ${ident(target.table)} r
        WHERE ${and(target.own('r'), scope('r'), allowed)}
        ORDER BY ${ident('r', column)}, r.id LIMIT ${MAX_CHOICES + 1})
      UNION
      (SELECT r.id, ${ident('r', column)}, ${kind} FROM ${ident(target.table)} r
        WHERE ${and(
          sql`r.id = ANY(${idList(target, idsIn(target, chosen))})`,
          target.own('r'),
          permit(target.policy, 'read', 'r', actor),
        )})
      ORDER BY kind, label, id`);
    return {
      options: rows.map(({ id, label, kind: of }) =>
        of === null ? ([String(id), label] as const) : ([String(id), label, of] as const),
      ),
      hasMore: rows.length > MAX_CHOICES,
    };
  }
}

/** The one object that can be chosen, where there is no other. */
export const singleChoice = (choices: ReferenceList | null | undefined): string | undefined =>
  choices && !choices.hasMore && choices.options.length === 1 ? choices.options[0]?.[0] : undefined;

/** Column that names objects of a kind, or null for kinds that have no names. */
const labelColumn = (target: ResourceDefinition): string | null =>
  target.field('name')?.column ?? target.field('username')?.column ?? null;

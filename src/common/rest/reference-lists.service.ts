import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { and, ident, not, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { idList, idsIn } from '../resource/ids.js';

/** Maximum number of objects that a select lists. Users search for the objects of a longer list. */
const MAX_CHOICES = 50;

interface Choice {
  id: number;
  label: string;
  kind: string | null;
  /** Position in the list; 0 for a chosen object. */
  place: number;
}

/** Objects that a reference can be set to, for a select. */
export interface ReferenceList {
  options: readonly (readonly [id: string, label: string, kind?: string])[];
  /** True if there are more objects than `options` contains. */
  hasMore: boolean;
}

/** Lists the objects that a caller can choose in a form, by the rules that later check the form. */
@Injectable()
export class ReferenceLists {
  constructor(private readonly database: Database) {}

  /**
   * @param action action that the caller needs on the object
   * @param chosen ids that are listed in addition if the caller can read the objects
   * @param scope returns a further SQL condition on the objects of the list
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
    const isChosen = sql`r.id = ANY(${idList(target, idsIn(target, chosen))})`;
    const rows = await this.database.rows<Choice>(sql`
      (SELECT first.*, row_number() OVER (ORDER BY label, id)::int AS place FROM (
        SELECT r.id, ${ident('r', column)} AS label, ${kind} AS kind FROM ${ident(target.table)} r
        WHERE ${and(target.partCondition('r'), target.unhidden?.('r') ?? TRUE, scope('r'), allowed, not(isChosen))}
        ORDER BY ${ident('r', column)}, r.id LIMIT ${MAX_CHOICES + 1}) first)
      UNION ALL
      (SELECT r.id, ${ident('r', column)}, ${kind}, 0 FROM ${ident(target.table)} r
        WHERE ${and(isChosen, target.partCondition('r'), permit(target.policy, 'read', 'r', actor))})
      ORDER BY kind, label, id`);
    const listed = rows.filter(({ place }) => place <= MAX_CHOICES);
    return {
      options: listed.map((row) =>
        row.kind === null
          ? ([String(row.id), row.label] as const)
          : ([String(row.id), row.label, row.kind] as const),
      ),
      hasMore: rows.length > listed.length,
    };
  }
}

/** Returns the id of the only object that can be chosen, or undefined unless there is exactly one. */
export const onlyId = (choices: ReferenceList | null | undefined): string | undefined =>
  choices && !choices.hasMore && choices.options.length === 1 ? choices.options[0]?.[0] : undefined;

/** Returns the column with the name of the objects, or null if the resource has no names. */
const labelColumn = (target: ResourceDefinition): string | null =>
  target.field('name')?.column ?? target.field('username')?.column ?? null;

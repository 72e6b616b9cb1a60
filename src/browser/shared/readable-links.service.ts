import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../../common/access.js';
import { targetOf } from '../../common/fields/field.js';
import { isRecord } from '../../common/records.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { selectRows } from '../../common/resource/select-rows.js';
import { Database } from '../../database/database.js';
import { and, sql, TRUE } from '../../database/sql.js';
import type { Item } from './value-views.js';

/** Removes links to objects that the caller may not read. */
@Injectable()
export class ReadableLinks {
  constructor(private readonly database: Database) {}

  /**
   * Returns the objects with null in `related` for each reference to an object that the caller may not
   * read. Runs at most one statement for each referenced type.
   */
  async filter(
    items: readonly Item[],
    { fields }: ResourceDefinition,
    actor: Actor,
  ): Promise<readonly Item[]> {
    const references = fields.filter(({ target }) => target !== null);
    const unreadable = new Map<ResourceDefinition, ReadonlySet<unknown>>();
    for (const target of new Set(references.map(targetOf))) {
      const fieldsOfTarget = references.filter((field) => targetOf(field) === target);
      const values = items.flatMap((item) => fieldsOfTarget.map(({ name }) => item[name]));
      const ids = values.filter((value) => typeof value === 'number');
      unreadable.set(target, await this.unreadable(target, ids, actor));
    }
    return items.map((item) => {
      if (!isRecord(item.related)) return item;
      const names = references
        .filter((field) => unreadable.get(targetOf(field))?.has(item[field.name]))
        .map(({ name }) => [name, null] as const);
      return { ...item, related: { ...item.related, ...Object.fromEntries(names) } };
    });
  }

  private async unreadable(
    target: ResourceDefinition,
    ids: readonly number[],
    actor: Actor,
  ): Promise<ReadonlySet<unknown>> {
    const isReadable = permit(target.policy, 'read', 't', actor);
    if (!target.stored || ids.length === 0 || isReadable === TRUE) return new Set();
    const isListed = sql`t.id = ANY(${ids}::bigint[])`;
    const rows = await this.database.rows<{ id: number }>(
      selectRows(target, 't', sql`t.id`, and(isListed, isReadable)),
    );
    const readable = new Set(rows.map(({ id }) => id));
    return new Set(ids.filter((id) => !readable.has(id)));
  }
}

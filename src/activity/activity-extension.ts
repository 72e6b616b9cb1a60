import { and, sql } from '../database/sql.js';
import { permit } from '../common/access.js';
import {
  anyOfSchemas,
  INTEGER,
  list,
  object,
  partial,
  STRING,
  WIDE_INTEGER,
} from '../common/fields/json-schema.js';
import { findResource, resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { selectRows } from '../common/resource/select-rows.js';
import { idList } from '../common/resource/ids.js';
import { describedEntries, type DescribedEntry } from './activity.repository.js';

const SIDES = ['object1', 'object2'] as const;

export const ACTIVITY_SHOWS: ShownMembers = {
  relatedOthers: anyOfSchemas(STRING, list(STRING)),
  summary_fields: {
    role: list(partial({ id: INTEGER, name: STRING, role_field: STRING })),
    actor: partial({ id: INTEGER, username: STRING, first_name: STRING, last_name: STRING }),
  },
  summaryOthers: list(object({ id: WIDE_INTEGER, name: STRING })),
};

/**
 * Returns names and links of the objects in the entries, batched with other queries. Deleted objects keep
 * their last name. Names of existing objects that the caller cannot read are omitted, including the name
 * of the author.
 */
export async function describeEntries(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map(({ id }) => id);
  const entries = await context.batch.rows<DescribedEntry>(describedEntries(ids));
  const hidden = await hiddenObjects(entries, context);
  return new Map(entries.map((entry) => [entry.id, describe(entry, hidden)]));
}

async function hiddenObjects(
  entries: readonly DescribedEntry[],
  { batch, actor }: RepresentContext,
): Promise<Map<string, Set<number>>> {
  const idsByType = new Map<string, Set<number>>();
  const addId = (type: string, id: unknown): void => {
    if (typeof id === 'number') idsByType.set(type, (idsByType.get(type) ?? new Set()).add(id));
  };
  for (const entry of entries) {
    addId('user', entry.actor_id);
    for (const side of SIDES) addId(String(entry[side]), entry[`${side}_id`]);
  }
  if (actor.isSuperuser || actor.isSystemAuditor) return new Map();
  const hiddenByType = [...idsByType].map(async ([type, ids]): Promise<[string, Set<number>]> => {
    const definition = findResource(type);
    if (!definition) return [type, new Set()];
    const readable = permit(definition.policy, 'read', 't', actor);
    const condition = and(
      sql`t.id = ANY(${idList(definition, [...ids])})`,
      sql`(${readable}) IS NOT TRUE`,
    );
    const rows = await batch.rows<{ id: number }>(
      selectRows(definition, 't', sql`t.id`, condition),
    );
    return [type, new Set(rows.map(({ id }) => id))];
  });
  return new Map(await Promise.all(hiddenByType));
}

function describe(entry: DescribedEntry, hidden: Map<string, Set<number>>): Extension {
  const related: Record<string, string[]> = {};
  const summary: Record<string, unknown[]> = {};
  for (const side of SIDES) {
    const [type, id] = [entry[side], entry[`${side}_id`]];
    const definition = findResource(type);
    if (!definition || typeof id !== 'number') continue;
    (related[type] ??= []).push(definition.url(id));
    if (hidden.get(type)?.has(id)) continue;
    (summary[type] ??= []).push({ id, name: entry[`${side}_name`] });
  }
  if (entry.role !== null) {
    const { role_id: roleId, role, object2, object2_name: name } = entry;
    if (roleId !== null) related.role = [resource('role').url(roleId)];
    const roleSummary = roleId === null ? {} : { id: roleId };
    // A system-wide role is itself an object of the entry.
    const systemRoleName = object2 === 'role' ? { name } : {};
    summary.role = [{ ...roleSummary, ...systemRoleName, role_field: role.split('.')[1] }];
  }
  const { actor_snapshot: snapshot, actor_id: id } = entry;
  const isHidden = id !== null && hidden.get('user')?.has(id) === true;
  const actor = snapshot ? { actor: isHidden ? { id } : { ...snapshot, id } } : {};
  return {
    // Several objects of one type can be in one entry, so each type has a list of paths.
    related,
    summary_fields: { ...summary, ...actor },
  };
}

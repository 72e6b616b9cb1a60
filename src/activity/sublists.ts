import { sql, type Sql } from '../database/sql.js';
import { resource, type ResourceDefinition, type Row } from '../common/resource/define-resource.js';
import type { SubListSpec } from '../common/rest/sublist.js';

/**
 * Declares the list of activity about an object that the caller can read. For a user, includes activity
 * by the user.
 */
export const activityOf =
  () =>
  (definition: ResourceDefinition): SubListSpec => ({
    target: () => resource('activity_stream'),
    scope: (parent) => scopeOf(definition, parent),
  });

function scopeOf({ type }: ResourceDefinition, parent: Row): Sql {
  const about = sql`(
    (t.object1 = ${type} AND t.object1_id = ${parent.id})
    OR (t.object2 = ${type} AND t.object2_id = ${parent.id}))`;
  return type === 'user' ? sql`(${about} OR t.actor_id = ${parent.id})` : about;
}

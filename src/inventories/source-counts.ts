import { resource } from '../common/resource/define-resource.js';
import { selectRows } from '../common/resource/select-rows.js';
import { ident, sql, type Sql } from '../database/sql.js';

/**
 * Returns the numbers of an inventory's sources, as SQL values. Sources belong to a later feature, so
 * the statement finds their table in the registry of resources.
 *
 * @param inventory id of the inventory, as SQL
 */
export function sourceCounts(
  inventory: Sql,
): Record<
  'has_inventory_sources' | 'total_inventory_sources' | 'inventory_sources_with_failures',
  Sql
> {
  const sources = resource('inventory_source');
  const found = selectRows(
    sources,
    'src',
    ident('src', 'last_job_failed'),
    sql`src.inventory_id = ${inventory}`,
  );
  return {
    has_inventory_sources: sql`EXISTS (${found})`,
    total_inventory_sources: sql`(SELECT count(*)::int FROM (${found}) src)`,
    inventory_sources_with_failures: sql`(
      SELECT count(*)::int FROM (${found}) src WHERE src.last_job_failed)`,
  };
}

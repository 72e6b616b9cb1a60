import { Invalid } from '../common/errors/errors.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { selectRows } from '../common/resource/select-rows.js';
import { children, subListOf } from '../common/rest/sublist.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { hostsBelow } from './group-hosts.repository.js';
import { isHostPattern, limitTo } from './host-name.js';
import { inventoriesReaching } from './inventories.repository.js';
import type { Factory } from './sublists.js';

/** Declares the sub-list of an inventory's ad hoc commands; POST runs one on its hosts. */
export const commandsOfInventory = (): Factory => children('ad_hoc_commands', { needs: 'adhoc' });

/** Declares the sub-list of ad hoc commands that ran on a host; POST runs one on that host only. */
export const commandsOfHost = (): Factory =>
  commandsOn(({ id }) => sql`${ident('evt', 'host_id')} = ${id}`);

/**
 * Declares the sub-list of ad hoc commands that ran on a host of a group; POST runs one on the group.
 */
export const commandsOfGroup = (): Factory =>
  commandsOn(({ id }) => sql`${ident('evt', 'host_id')} IN (${hostsBelow(id)})`);

/** @param condition condition on the events `evt` of the parent's hosts */
const commandsOn = (condition: (parent: Row) => Sql): Factory =>
  subListOf(
    () => resource('ad_hoc_command'),
    (parent) => sql`
      t.inventory_id IN (${inventoriesReaching(Number(parent.inventory_id))}) AND t.id IN (
        ${selectRows(resource('job_event'), 'evt', ident('evt', 'job_id'), condition(parent))})`,
    {
      create: ({ inventory_id: inventory, name }) => ({ inventory, limit: asLimit(String(name)) }),
      needs: 'adhoc',
    },
  );

/**
 * Returns a name as a pattern that matches only this name.
 *
 * @throws Invalid if there is no such pattern
 */
function asLimit(name: string): string {
  if (!name.startsWith('-') && !isHostPattern(name)) return limitTo([name]);
  throw Invalid.field(
    'limit',
    `"${name}" has characters with a meaning in host patterns: run the command on the inventory.`,
  );
}

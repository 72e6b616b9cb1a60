import { Invalid } from '../common/errors/errors.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { selectRows } from '../common/resource/select-rows.js';
import type { SubListSpec } from '../common/rest/sublist.js';
import { children, listOf } from '../common/rest/sublist-kinds.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { hostsBelow } from './group-hosts.repository.js';

type Factory = (definition: ResourceDefinition, name: string) => SubListSpec;

/** What means more in a host pattern than the name it stands in. */
const PATTERN = /^-|[\s:,&!*?[\]~]/;

/** Ad hoc commands of an inventory; POST runs one on its hosts. */
export const commandsOfInventory = (): Factory => children('ad_hoc_commands', { needs: 'adhoc' });

/** Ad hoc commands that have touched a host; POST runs one on that host alone. */
export const commandsOfHost = (): Factory =>
  commandsOn(({ id }) => sql`${ident('evt', 'host_id')} = ${id}`);

/** Ad hoc commands that have touched a host of a group; POST runs one on the group. */
export const commandsOfGroup = (): Factory =>
  commandsOn(({ id }) => sql`${ident('evt', 'host_id')} IN (${hostsBelow(id)})`);

/** @param touched which events count, on `evt` */
const commandsOn = (touched: (parent: Row) => Sql): Factory =>
  listOf(
    () => resource('ad_hoc_command'),
    (parent) => sql`t.inventory_id = ${parent.inventory_id} AND t.id IN (
      ${selectRows(resource('job_event'), 'evt', ident('evt', 'job_id'), touched(parent))})`,
    {
      create: ({ inventory_id: inventory, name }) => ({ inventory, limit: asLimit(String(name)) }),
      needs: 'adhoc',
    },
  );

/** A name as the pattern that matches it and nothing else. @throws Invalid where there is none */
function asLimit(name: string): string {
  if (!PATTERN.test(name)) return name;
  throw Invalid.field(
    'limit',
    `"${name}" has characters with a meaning in host patterns: run the command on the inventory.`,
  );
}

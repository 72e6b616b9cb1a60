import type { Actor } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import { FilterCompiler, resolveName } from '../common/list/compile.js';
import { LOOKUPS } from '../common/list/query.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import type { ExpressionParts } from '../common/resource/expression.js';
import { follow } from '../common/resource/followed.js';
import { resource } from '../common/resource/registry.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { hostsFound } from './host-filter.js';
import { oneOfAName } from './hosts.repository.js';

/** What decides which hosts are in an inventory. */
export interface HostedInventory {
  id: number;
  kind: string;
  organization_id: number;
  host_filter: string | null;
}

/** What of a row of inventories decides that. */
export const hosted = (row: Row): HostedInventory => ({
  id: row.id,
  kind: String(row.kind),
  organization_id: Number(row.organization_id),
  host_filter: typeof row.host_filter === 'string' ? row.host_filter : null,
});

/** Members are the same for whoever looks: a rule of its own limits what decides them. */
const NOBODY: Actor = { id: 0, username: '', isSuperuser: true, isSystemAuditor: false };

/**
 * What a smart inventory may look into besides hosts. Its members tell what the filter found, so it
 * finds nothing that readers of a host would not see on it: all of what belongs to its inventory, and
 * of other things the little that the host shows of them.
 */
const OPEN: Readonly<Record<string, 'all' | 'summary'>> = {
  ...{ inventory: 'all', inventory_source: 'all', group: 'all' },
  ...{ organization: 'summary', label: 'summary', job: 'summary', job_host_summary: 'summary' },
};

export const isSmart = ({ kind }: Pick<HostedInventory, 'kind'>): boolean => kind === 'smart';

/**
 * The hosts of an inventory, as a condition on a row of hosts: those entered into it, or those that
 * its filter finds among the hosts of its organization
 * (docs/contract/resources.md#smart-inventories).
 *
 * @throws BadRequest, Forbidden for a filter that is none; saved ones were asked before
 */
export function membersOf(inventory: HostedInventory, alias: string): Sql {
  if (!isSmart(inventory)) return sql`${ident(alias, 'inventory_id')} = ${inventory.id}::int`;
  const compiler = new FilterCompiler(NOBODY, () => null);
  return oneOfAName(alias, inventory.organization_id, (row) =>
    hostsFound(inventory.host_filter ?? '', row, confined(compiler.parts(resource('host'), row))),
  );
}

function confined(parts: ExpressionParts): ExpressionParts {
  return {
    ...parts,
    condition: (key, value) => {
      assertOpen(key.split('__'));
      return parts.condition(key, value);
    },
  };
}

/** @throws BadRequest for a path that leads to what is not open */
function assertOpen(names: readonly string[]): void {
  const last = names.at(-1) ?? '';
  const path = names.length > 1 && LOOKUPS.has(last) ? names.slice(0, -1) : names;
  let definition: ResourceDefinition = resource('host');
  for (const [index, name] of path.entries()) {
    const own = resolveName(definition, name);
    const target = follow(definition, own)?.target();
    const next = path[index + 1];
    if (!target) return;
    // A derived relation, such as the jobs of a host, leads to what the host does not show.
    const isOwn = own in definition.relations || definition.field(own) !== undefined;
    const open = isOwn ? OPEN[target.type] : undefined;
    const isShown = next === undefined || ['id', 'pk', ...target.summary].includes(next);
    if (open === undefined || (open === 'summary' && !isShown)) {
      throw new BadRequest(
        `Smart inventories cannot look into ${path.slice(0, index + 2).join('__')}`,
      );
    }
    definition = target;
  }
}

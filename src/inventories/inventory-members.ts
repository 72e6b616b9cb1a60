import { SYSTEM_ACTOR } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import { FilterCompiler, resolveName } from '../common/list/filter-compiler.js';
import { LOOKUPS } from '../common/list/query.js';
import { resource, type ResourceDefinition, type Row } from '../common/resource/define-resource.js';
import type { ExpressionParts } from '../common/resource/expression.js';
import { follow } from '../common/resource/followed-relations.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { hostFilterCondition } from './host-filter.js';
import { firstOfEachName } from './hosts.repository.js';

/** The fields of an inventory that determine its hosts. */
export interface HostedInventory {
  id: number;
  kind: string;
  organization_id: number;
  host_filter: string | null;
}

/** Returns the fields of an inventory's row that determine its hosts. */
export const hostedInventory = (row: Row): HostedInventory => ({
  id: row.id,
  kind: String(row.kind),
  organization_id: Number(row.organization_id),
  host_filter: typeof row.host_filter === 'string' ? row.host_filter : null,
});

/**
 * Relations that a smart inventory's filter can read. The members reveal what the filter found, so
 * the filter only reads data that readers of a host see: all fields of its inventory, groups and sources,
 * and the summary fields of other objects.
 */
const READABLE_TYPES: Readonly<Record<string, 'all' | 'summary'>> = {
  inventory: 'all',
  inventory_source: 'all',
  group: 'all',
  organization: 'summary',
  label: 'summary',
  job: 'summary',
  job_host_summary: 'summary',
};

export const isSmart = ({ kind }: Pick<HostedInventory, 'kind'>): boolean => kind === 'smart';

/**
 * Returns the condition on a row of hosts for an inventory's hosts: its own hosts, or those that
 * its filter finds in its organization (docs/contract/resources.md#smart-inventories).
 *
 * @throws BadRequest, Forbidden for an invalid filter; stored filters were validated before
 */
export function membersOf(inventory: HostedInventory, alias: string): Sql {
  if (!isSmart(inventory)) return sql`${ident(alias, 'inventory_id')} = ${inventory.id}::int`;
  // Members are independent of the reader; `READABLE_TYPES` limits what a filter can read.
  const compiler = new FilterCompiler(SYSTEM_ACTOR, () => null);
  return firstOfEachName(alias, inventory.organization_id, (row) =>
    hostFilterCondition(
      inventory.host_filter ?? '',
      row,
      restricted(compiler.parts(resource('host'), row)),
    ),
  );
}

function restricted(parts: ExpressionParts): ExpressionParts {
  return {
    ...parts,
    condition: (key, value) => {
      assertReadable(key.split('__'));
      return parts.condition(key, value);
    },
  };
}

/** @throws BadRequest for a path to data that is not open to filters */
function assertReadable(names: readonly string[]): void {
  const last = names.at(-1) ?? '';
  const path = names.length > 1 && LOOKUPS.has(last) ? names.slice(0, -1) : names;
  let definition: ResourceDefinition = resource('host');
  for (const [index, name] of path.entries()) {
    const field = resolveName(definition, name);
    const target = follow(definition, field)?.target();
    const next = path[index + 1];
    if (!target) return;
    // A derived relation, such as the jobs of a host, leads to data that the host does not show.
    const isOwn = field in definition.relations || definition.field(field) !== undefined;
    const readable = isOwn ? READABLE_TYPES[target.type] : undefined;
    const isShown = next === undefined || ['id', 'pk', ...target.summary].includes(next);
    if (readable === undefined || (readable === 'summary' && !isShown)) {
      throw new BadRequest(
        `Smart inventories cannot filter by ${path.slice(0, index + 2).join('__')}`,
      );
    }
    definition = target;
  }
}

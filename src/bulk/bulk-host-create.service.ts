import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { invalidPk } from '../common/fields/fault-texts.js';
import { type Conflict, Invalid, type FieldErrors } from '../common/errors/errors.js';
import { entryOf, existing, zip } from '../common/invariants.js';
import { resource } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import {
  checkQuery,
  dryRunQuery,
  HostWritesRepository,
  HOST_DEFAULTS,
  writeQuery,
  type WrittenHost,
  type HostTarget,
  type HostCheck,
  type OnConflict,
  type Clash,
} from '../inventories/host-writes.repository.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import type { HostCreateRequest } from './bulk-host.dto.js';
import { assertWithin } from './bulk-limits.js';
import { addHost, emptyColumns, selectEntries, selectNames } from './host-columns.js';
import { readHostEntries, type HostEntry } from './host-entries.js';
import { HostAdditions, namesTaken } from './host-additions.service.js';

/** Creates many hosts in one inventory, all or none, with a constant number of statements. */
@Injectable()
export class BulkHostCreate {
  constructor(
    private readonly database: Database,
    private readonly settings: RuntimeSettings,
    private readonly hosts: HostWritesRepository,
    private readonly additions: HostAdditions,
  ) {}

  /**
   * @param dryRun true to report the effects of the request without applying them
   * @throws Invalid with all errors (entry errors are keyed by index); Forbidden if the host limit of the
   *   organization is exceeded; Conflict if a concurrent request took one of the names
   */
  async create(
    { inventory: inventoryId, on_conflict: onConflict, hosts: requestedHosts }: HostCreateRequest,
    actor: Actor,
    dryRun: boolean,
  ): Promise<object> {
    const { BULK_HOST_MAX_CREATE: max } = await this.settings.get('BULK_HOST_MAX_CREATE');
    assertWithin('hosts', requestedHosts.length, 'BULK_HOST_MAX_CREATE', max);
    const { entries, errors } = await readHostEntries(requestedHosts, onConflict);
    const columns = emptyColumns();
    entries.forEach((entry, index) => addHost(columns, index, entry));
    const rows = selectEntries(columns);
    const names = selectNames(columns);
    const check = checkQuery(inventoryId, names, { onConflict, max: requestedHosts.length });
    const target = await this.hosts.findTarget(inventoryId, actor, check);
    assertCanCreateHosts(inventoryId, target, errors);
    const { existing: existingCount } = target.check;
    return this.database.transaction(async () => {
      const added = {
        names: sql`SELECT name FROM (${names}) given`,
        count: entries.length - existingCount,
      };
      const hostCountBefore = await this.additions.lock(target, added);
      const written = await this.writeHosts(inventoryId, entries, { rows, onConflict, dryRun });
      const counts = countsOf(written);
      const response = {
        url: resource('inventory').url(inventoryId),
        ...(onConflict === 'update' ? counts : {}),
        hosts: zip(entries, written).map(([entry, host]) => hostBody(inventoryId, entry, host)),
      };
      if (dryRun) return { dry_run: true, ...response };
      const groups = entries.some((entry) => entry.groups.length > 0)
        ? await this.additions.join(inventoryId, rows)
        : [];
      this.additions.record(target, hostCountBefore, { ...counts, groups });
      return response;
    });
  }

  /**
   * Returns the result of each entry, in the order of the entries.
   *
   * @throws Conflict if a concurrent request took some of the names
   */
  private async writeHosts(
    inventoryId: number,
    entries: readonly HostEntry[],
    { rows, onConflict, dryRun }: { rows: Sql; onConflict: OnConflict; dryRun: boolean },
  ): Promise<WrittenHost[]> {
    if (!dryRun && onConflict === 'error') {
      const ids = await this.hosts.insertAll(inventoryId, rows);
      if (ids.length < entries.length) throw nameConflict(entries, await this.hosts.namesOf(ids));
      return zip(entries, ids).map(([entry, id]) => created(entry, id));
    }
    const writing = dryRun
      ? dryRunQuery(inventoryId, rows)
      : writeQuery(inventoryId, rows, onConflict);
    const written = await this.database.rows<WrittenHost & Record<string, unknown>>(
      sql`${writing} SELECT * FROM written`,
    );
    if (written.length < entries.length)
      throw nameConflict(
        entries,
        written.map(({ name }) => name),
      );
    const byName = new Map(written.map((host) => [host.name, host]));
    return entries.map(({ name }) => entryOf(byName, name));
  }
}

type CheckedTarget = HostTarget & { check: HostCheck | null };

function assertCanCreateHosts(
  inventoryId: number,
  target: CheckedTarget | undefined,
  entryErrors: FieldErrors,
): asserts target is HostTarget & { check: HostCheck } {
  const inventoryErrors = targetErrors(inventoryId, target);
  const errors: FieldErrors = { ...inventoryErrors };
  if (Object.keys(entryErrors).length > 0) errors.hosts = entryErrors;
  if (target?.may_change === true) {
    const { clashes } = existing(target.check, 'hosts of a changeable inventory are checked');
    const messages = [...(inventoryErrors.__all__ ?? []), ...nameErrors(clashes)];
    if (messages.length > 0) errors.__all__ = messages;
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
}

/**
 * Returns the errors that prevent adding hosts to the inventory. An unknown inventory and an inventory that
 * the caller cannot change give the same error.
 */
export function targetErrors(
  inventoryId: number,
  target: HostTarget | undefined,
): { inventory?: string[]; __all__?: string[] } {
  if (!target?.may_change) {
    return {
      inventory: [invalidPk(inventoryId)],
      __all__: [`Inventory with id ${inventoryId} not found or lack permissions to add hosts.`],
    };
  }
  if (target.kind === '') return {};
  return {
    __all__: ['Hosts can only be created in manual inventories (not smart or constructed types).'],
  };
}

/** Messages by kind of name clash, the same as for single objects. */
export const CLASH_TEXTS = {
  repeated: 'Hostnames must be unique in an inventory.',
  host: 'Hostnames must be unique in an inventory.',
  group: 'A Group with that name already exists.',
  group_is_host: 'A Host with that name already exists.',
} as const satisfies Record<Clash['reason'], string>;

function nameErrors(clashes: readonly Clash[]): string[] {
  const byText = new Map<string, Set<string>>();
  for (const { name, reason } of clashes) {
    const text = CLASH_TEXTS[reason];
    byText.set(text, (byText.get(text) ?? new Set()).add(name));
  }
  return [...byText].map(([text, names]) => `${text} Duplicates found: ${[...names].join(', ')}`);
}

function nameConflict(entries: readonly HostEntry[], written: readonly string[]): Conflict {
  const stored = new Set(written);
  return namesTaken(entries.filter(({ name }) => !stored.has(name)).map(({ name }) => name));
}

function countsOf(
  written: readonly WrittenHost[],
): Record<'created' | 'updated' | 'unchanged', number> {
  const count = (result: string): number => written.filter((host) => host.result === result).length;
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
  };
}

const created = (entry: HostEntry, id: number): WrittenHost => ({
  id,
  name: entry.name,
  description: entry.description ?? HOST_DEFAULTS.description,
  enabled: entry.enabled ?? HOST_DEFAULTS.enabled,
  instance_id: entry.instance_id ?? HOST_DEFAULTS.instance_id,
  variables: entry.variables ?? HOST_DEFAULTS.variables,
  result: 'created',
});

/** Returns the response body of a host: as stored or, in a dry run, as it would be stored. */
function hostBody(inventory: number, entry: HostEntry, host: WrittenHost): object {
  const { id, name, description, enabled, instance_id, variables } = host;
  const url = id === null ? null : resource('host').url(id);
  // A request can contain thousands of hosts. Object literals take a tenth of the time of spreads.
  return entry.groups.length === 0
    ? { id, name, description, enabled, instance_id, variables, url, inventory }
    : {
        id,
        name,
        description,
        enabled,
        instance_id,
        variables,
        groups: entry.groups,
        url,
        inventory,
      };
}

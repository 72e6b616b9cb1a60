import type { InventoryDelivery } from '../../inventories/import/delivery.js';
import { namesMatching } from '../../inventories/import/name-pattern.js';
import { readDelivery } from '../../inventories/import/delivery-reader.js';
import { onlyHosts, withoutEmptyGroups } from '../../inventories/import/delivery-restrictions.js';
import { pathsIn } from '../../inventories/import/variable-paths.js';
import type { StartedInventoryUpdate } from '../../inventory-sources/inventory-updates.repository.js';
import type { SourceKind } from '../../inventory-sources/source-kinds.js';
import { environmentOf, sourceVariableFaults } from '../../inventory-sources/source-variables.js';
import type { InventoryOrigin } from '../runner/inventory-files.js';
import type { ReadInventory } from './inventory-reader.service.js';
import type { ProjectFiles } from '../worker/job-project-files.service.js';

/** Returns the input that Ansible reads for an inventory source. */
export function originOf(
  { plugin }: SourceKind,
  {
    row,
    variables,
    files,
    env,
    inputs,
  }: {
    row: StartedInventoryUpdate;
    variables: Readonly<Record<string, unknown>>;
    files: ProjectFiles;
    env: Readonly<Record<string, string>>;
    inputs: readonly string[] | null;
  },
): InventoryOrigin {
  if (!plugin) return { kind: 'files', projectDir: files.dir, path: row.source_path };
  const options = Object.entries(plugin.credentialOptions ?? {}).flatMap(([option, name]) => {
    const value = env[name];
    return value ? [[option, [value]] as const] : [];
  });
  return {
    kind: 'plugin',
    fileName: plugin.fileName,
    options: { ...Object.fromEntries(options), ...variables, plugin: plugin.name },
    ...(inputs ? { inputs } : {}),
  };
}

/**
 * Returns the source variables as environment variables. Omits forbidden names, which can have been stored
 * before they were forbidden.
 */
export function allowedEnvironment(
  variables: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const allowed = Object.entries(variables).filter(
    ([name]) => sourceVariableFaults([name], true).length === 0,
  );
  return environmentOf(Object.fromEntries(allowed));
}

/**
 * Returns the hosts and groups that the filters of the source select.
 *
 * @param originals ids of the original hosts of a constructed inventory by name; null for other inventories
 * @throws ImportError
 */
export async function inventoryDeliveryOf(
  { document, limited }: ReadInventory,
  row: StartedInventoryUpdate,
  kind: SourceKind,
  originals: ReadonlyMap<string, number> | null,
): Promise<InventoryDelivery> {
  const enabledVariable = row.enabled_var === '' ? null : row.enabled_var;
  const paths = pathsIn(enabledVariable ?? kind.enabled?.variable ?? '');
  const value = enabledVariable === null ? (kind.enabled?.value ?? '') : row.enabled_value;
  let delivery = await readDelivery(document, {
    enabled: paths.length === 0 ? null : { paths, value, ignoresCase: enabledVariable === null },
    instanceId: pathsIn(kind.instanceId),
    ...(originals ? { originals } : {}),
  });
  if (limited) delivery = onlyHosts(delivery, limited);
  if (row.host_filter !== '') {
    const names = await namesMatching(row.host_filter, [...delivery.hosts.keys()]);
    delivery = onlyHosts(delivery, names);
  }
  return kind.keepsEmptyGroups ? delivery : withoutEmptyGroups(delivery);
}

import type { DeliveredGroup, InventoryDelivery } from './delivery.js';

/**
 * Returns a delivery with only some of its hosts; groups remain.
 *
 * @param names names of the hosts to keep
 */
export function onlyHosts(
  delivery: InventoryDelivery,
  names: ReadonlySet<string>,
): InventoryDelivery {
  const groups = [...delivery.groups].map(([name, group]): [string, DeliveredGroup] => [
    name,
    { ...group, hosts: new Set([...group.hosts].filter((host) => names.has(host))) },
  ]);
  const hosts = [...delivery.hosts].filter(([name]) => names.has(name));
  return { ...delivery, groups: new Map(groups), hosts: new Map(hosts) };
}

/** Returns a delivery without empty groups: those without hosts, subgroups and variables. */
export function withoutEmptyGroups(delivery: InventoryDelivery): InventoryDelivery {
  const isEmpty = ({ hosts, children, variables }: DeliveredGroup): boolean =>
    hosts.size === 0 && children.size === 0 && Object.keys(variables).length === 0;
  const remaining = new Map([...delivery.groups].filter(([, group]) => !isEmpty(group)));
  const groups = [...remaining].map(([name, group]): [string, DeliveredGroup] => [
    name,
    { ...group, children: new Set([...group.children].filter((child) => remaining.has(child))) },
  ]);
  return { ...delivery, groups: new Map(groups) };
}

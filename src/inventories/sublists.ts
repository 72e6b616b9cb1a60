import { BadRequest } from '../common/errors/errors.js';
import { resource, type ResourceDefinition, type Row } from '../common/resource/define-resource.js';
import type { Candidates } from '../common/rest/route.js';
import {
  attached,
  children,
  type LinkContext,
  subListOf,
  type SubListSpec,
} from '../common/rest/sublist.js';
import { ident, sql, TRUE, type Sql } from '../database/sql.js';
import {
  groupAndDescendants,
  groupsAndAncestors,
  isSubgroup,
} from './group-children.repository.js';
import { groupsOfHost, hostsBelow } from './group-hosts.repository.js';
import { hostedInventory, isSmart, membersOf } from './inventory-members.js';
import { PENDING } from './inventory.hooks.js';
import { Memberships } from './memberships.service.js';

export type Factory = (definition: ResourceDefinition, name: string) => SubListSpec;

function assertSameInventory({ parent }: LinkContext, child: Row): void {
  if (parent.inventory_id === child.inventory_id) return;
  throw new BadRequest('Cannot associate two items from different inventories.');
}

/** Limits the candidates for attaching to objects of the same inventory. */
const sameInventory =
  (path: 'hosts' | 'groups') =>
  (parent: Row): Candidates => ({
    list: `${resource('inventory').url(Number(parent.inventory_id))}${path}/`,
    scope: (alias) => sql`${ident(alias, 'inventory_id')} = ${parent.inventory_id}::int`,
  });

/**
 * Returns the condition for possible child groups: all groups of the inventory except the group itself,
 * its ancestors and its descendants.
 */
const isPotentialChild = (group: Row, alias: string): Sql => sql`
  ${ident(alias, 'inventory_id')} = ${group.inventory_id}
  AND ${ident(alias, 'id')} NOT IN (${groupAndDescendants(sql`${group.id}`)})
  AND ${ident(alias, 'id')} NOT IN (${groupsAndAncestors(sql`SELECT ${group.id}::int`)})`;

/** Permits creation in plain inventories only. Other inventories derive their members. */
const plainOnly = { mayCreateIn: ({ kind }: Row): boolean => kind === '' };

/**
 * Declares the sub-list of an inventory's hosts; a host that is created here belongs to it. Readers
 * of a smart inventory see all hosts that its filter finds, in any inventory.
 */
export const hostsOfInventory = (): Factory =>
  children('hosts', {
    needs: 'change',
    ...plainOnly,
    scope: (inventory) => membersOf(hostedInventory(inventory), 't'),
    options: ({ parent }) =>
      isSmart(hostedInventory(parent)) ? { visible: TRUE, isCostly: true } : { counted: true },
  });

/**
 * Declares the sub-list of an inventory's groups or sources; an object that is created here belongs
 * to it.
 */
export const partsOfInventory = (relation: 'groups' | 'inventory_sources'): Factory =>
  children(relation, { needs: 'change', ...plainOnly });

/** Refuses changes of a sub-list of an inventory whose deletion is in progress. */
export const unlessDeleting =
  (factory: Factory): Factory =>
  (definition, name) => {
    const spec = factory(definition, name);
    const checked =
      (change: SubListSpec['attach']): NonNullable<SubListSpec['attach']> =>
      async (context, child) => {
        if (context.parent.pending_deletion === true) throw new BadRequest(PENDING);
        await change?.(context, child);
      };
    return { ...spec, attach: checked(spec.attach), detach: checked(spec.detach) };
  };

/** Declares the sub-list of smart inventories that contain a host. */
export const smartInventories = (): Factory =>
  subListOf(
    () => resource('inventory'),
    async (host, { rules }: LinkContext<Row, Memberships>) =>
      sql`t.id = ANY(${await rules.smartInventoriesOf(host)}::int[])`,
    { rules: Memberships },
  );

/**
 * Declares the sub-list of a group's hosts or a host's groups; POST adds a new object to the parent's
 * inventory and to the list.
 */
export const members = (relation: 'hosts' | 'groups'): Factory =>
  attached(relation, {
    rules: Memberships,
    create: (parent) => ({ inventory: parent.inventory_id }),
    candidates: sameInventory(relation),
    lockFirst: ({ rules, parent }: LinkContext<Row, Memberships>) =>
      rules.lockForChange(parent, 'host'),
    check: async (context, child) => assertSameInventory(context, child),
    ...(relation === 'hosts'
      ? {
          existing: ({ rules, parent }: LinkContext<Row, Memberships>, body) =>
            rules.hostByName(parent, body),
        }
      : {}),
  });

/** Declares the sub-list of groups directly below a group. */
export const childGroups = (): Factory =>
  attached('children', {
    rules: Memberships,
    create: (parent) => ({ inventory: parent.inventory_id }),
    lockFirst: ({ rules, parent }: LinkContext<Row, Memberships>) =>
      rules.lockForChange(parent, 'group'),
    candidates: (group) => ({
      list: `${resource('group').url(group.id)}potential_children/`,
      scope: (alias) => isPotentialChild(group, alias),
    }),
    check: async (context, child) => {
      assertSameInventory(context, child);
      await context.rules.assertNoCycle(context.parent, child);
    },
  });

export const potentialChildren = (): Factory =>
  subListOf(
    () => resource('group'),
    (group) => isPotentialChild(group, 't'),
  );

/**
 * Declares the sub-list of an inventory's groups that are in no other group; POST creates such a group.
 */
export const rootGroups = (): Factory =>
  subListOf(
    () => resource('group'),
    (inventory) => sql`t.inventory_id = ${inventory.id}
      AND NOT ${isSubgroup(sql`t.id`)}`,
    { create: (inventory) => ({ inventory: inventory.id }), needs: 'change', ...plainOnly },
  );

/** Declares the sub-list of groups that contain a host, directly or through subgroups. */
export const allGroups = (): Factory =>
  subListOf(
    () => resource('group'),
    (host) => sql`t.id IN (${groupsAndAncestors(groupsOfHost(host.id))})`,
  );

/** Declares the sub-list of hosts of a group and of all groups below it. */
export const allHostsOfGroup = (): Factory =>
  subListOf(
    () => resource('host'),
    (group) => sql`t.id IN (${hostsBelow(group.id)})`,
  );

/** Declares the sub-list of job events or host summaries of a group's hosts. */
export const resultsOfHosts = (type: 'job_event' | 'job_host_summary'): Factory =>
  subListOf(
    () => resource(type),
    ({ id }) =>
      type === 'job_event'
        ? sql`t.host_id IN (${hostsBelow(id)})`
        : sql`(t.host_id IN (${hostsBelow(id)}) OR t.constructed_host_id IN (${hostsBelow(id)}))`,
    {
      events: type === 'job_event',
    },
  );

/** Declares the sub-list of activity of a host and of its inventory. */
export const hostActivity = (): Factory =>
  subListOf(
    () => resource('activity_stream'),
    ({ id, inventory_id: inventory }) => sql`(
      (t.object1 = 'host' AND t.object1_id = ${id})
      OR (t.object2 = 'host' AND t.object2_id = ${id})
      OR (t.object1 = 'inventory' AND t.object1_id = ${inventory}))`,
  );

/** Declares the sub-list of activity of an inventory and of its hosts and groups. */
export const inventoryActivity = (): Factory =>
  subListOf(
    () => resource('activity_stream'),
    ({ id }) => sql`(
      (t.object1 = 'inventory' AND t.object1_id = ${id})
      OR (t.object2 = 'inventory' AND t.object2_id = ${id})
      OR (t.parent_type = 'inventory' AND t.parent_id = ${id}))`,
  );

import { sql } from '../../../src/database/sql.js';
import * as groupChildren from '../../../src/inventories/group-children.repository.js';
import * as groupHosts from '../../../src/inventories/group-hosts.repository.js';
import * as groups from '../../../src/inventories/groups.repository.js';
import * as hosts from '../../../src/inventories/hosts.repository.js';
import * as inventories from '../../../src/inventories/inventories.repository.js';
import { asQuery, fragmentsOf, samplesOf, type RoomSamples } from './samples.js';

const NAMES = sql`SELECT 'web' AS name`;

export default {
  repositories: [
    samplesOf(inventories.InventoriesRepository, {
      variablesOf: [[1]],
      hold: [[[1]]],
      totalHosts: [[1]],
      markForDeletion: [[1]],
      isPending: [[1]],
      removePending: [[1]],
    }),
    samplesOf(hosts.HostsRepository, {
      described: [[1]],
      describedByName: [[1, 'web']],
      countNames: [
        [1, NAMES, null],
        [1, NAMES, { inventory: 2 }],
        [1, NAMES, { host: 2 }],
      ],
      removeWithin: [[[1]]],
      removeSome: [[1, 10]],
      copy: [[1, 2, 3]],
    }),
    samplesOf(groups.GroupsRepository, {
      byName: [[1, 10]],
      described: [[1]],
      removeAll: [[[1]]],
      removeSome: [[1, 10]],
      copy: [[1, 2, 3]],
    }),
    samplesOf(groupHosts.GroupHostsRepository, { of: [[[1]]], copy: [[1, 2]] }),
    samplesOf(groupChildren.GroupChildrenRepository, {
      isWithin: [[1, 2]],
      edgesBelow: [[1]],
      edgesOf: [[[1]]],
      copy: [[1, 2]],
    }),
  ],
  fragments: [
    fragmentsOf(inventories, {
      organizationOfInventory: [[1]],
      countHostsOf: { calls: [[[1], sql`TRUE`]], inside: asQuery },
    }),
    fragmentsOf(hosts, { hostNamesOf: [[1]], countHostNames: [[sql`'{1}'::int[]`]] }),
    fragmentsOf(groups, { groupsShownOf: { calls: [[sql`1`, 5]], inside: asQuery } }),
    fragmentsOf(groupHosts, { groupsOfHost: [[1]], hostsBelow: [[1]] }),
    fragmentsOf(groupChildren, {
      groupAndDescendants: [[sql`1`]],
      groupsAndAncestors: [[sql`SELECT 1`]],
      isSubgroup: [[sql`1`]],
    }),
  ],
} satisfies RoomSamples;

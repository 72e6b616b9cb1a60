import { sql, type Sql } from '../../../src/database/sql.js';
import * as givenHosts from '../../../src/inventories/given-hosts.repository.js';
import * as groupChildren from '../../../src/inventories/group-children.repository.js';
import * as groupHosts from '../../../src/inventories/group-hosts.repository.js';
import * as groups from '../../../src/inventories/groups.repository.js';
import * as hosts from '../../../src/inventories/hosts.repository.js';
import * as inventories from '../../../src/inventories/inventories.repository.js';
import { SOMEBODY } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type RoomSamples } from './samples.js';

const GIVEN = sql`
  SELECT 1 AS place, 'web' AS name, 'text' AS description, true AS enabled, '' AS instance_id,
    '' AS variables, '["all"]' AS groups`;
/** A fragment that begins a statement with what was written. */
const writing = (fragment: Sql): Sql => sql`${fragment} SELECT * FROM written`;
const NAMES = sql`SELECT 'web' AS name`;

export default {
  repositories: [
    samplesOf(inventories.InventoriesRepository, {
      usable: [[[1], SOMEBODY]],
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
    samplesOf(givenHosts.GivenHostsRepository, {
      findTarget: [[1, SOMEBODY, sql`NULL`]],
      readable: [[[1], SOMEBODY]],
      removeAll: [[[1]]],
      join: [[1, GIVEN]],
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
      allInventories: { calls: [[]], inside: asQuery },
      organizationOfInventory: [[1]],
      countHostsOf: { calls: [[[1], sql`TRUE`]], inside: asQuery },
    }),
    fragmentsOf(hosts, {
      countHostsIn: [[sql`1`]],
      showLastJob: {
        calls: [[1, sql`SELECT 1 AS id, 2 AS summary_id`]],
        inside: (statement) => statement,
      },
      allHosts: { calls: [[]], inside: asQuery },
      hostNamesOf: [[1]],
      countHostNames: [[sql`'{1}'::int[]`]],
    }),
    fragmentsOf(givenHosts, {
      checkGiven: [[1, GIVEN, { onConflict: 'error', most: 5 }]],
      writeGiven: {
        calls: [
          [1, GIVEN, 'error'],
          [1, GIVEN, 'update'],
        ],
        inside: writing,
      },
      foreseeGiven: { calls: [[1, GIVEN]], inside: writing },
    }),
    fragmentsOf(groups, { groupsShownOf: { calls: [[sql`1`, 5]], inside: asQuery } }),
    fragmentsOf(groupHosts, { groupsOfHost: [[1]], hostsBelow: [[1]] }),
    fragmentsOf(groupChildren, {
      groupAndDescendants: [[sql`1`]],
      groupsAndAncestors: [[sql`SELECT 1`]],
      isSubgroup: [[sql`1`]],
    }),
  ],
} satisfies RoomSamples;

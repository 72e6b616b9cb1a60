import { sql, type Sql } from '../../../src/database/sql.js';
import * as givenHosts from '../../../src/inventories/host-writes.repository.js';
import * as groupChildren from '../../../src/inventories/group-children.repository.js';
import * as groupHosts from '../../../src/inventories/group-hosts.repository.js';
import * as groups from '../../../src/inventories/groups.repository.js';
import * as hostFacts from '../../../src/inventories/host-facts.repository.js';
import * as hosts from '../../../src/inventories/hosts.repository.js';
import * as inventories from '../../../src/inventories/inventories.repository.js';
import * as inventoryInputs from '../../../src/inventories/inventory-inputs.repository.js';
import * as importedMembers from '../../../src/inventories/import/imported-members.repository.js';
import * as importedObjects from '../../../src/inventories/import/imported-objects.repository.js';
import { CALLER } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const GIVEN = sql`
  SELECT 1 AS place, 'web' AS name, 'text' AS description, true AS enabled, '' AS instance_id,
    '' AS variables, '["all"]' AS groups`;
/** Completes a fragment that starts a statement with the CTE `written`. */
const writing = (fragment: Sql): Sql => sql`${fragment} SELECT * FROM written`;
const MEMBERS = new Map([
  [1, sql`TRUE`],
  [2, sql`t.name = 'web'`],
]);
const NAMES = sql`SELECT 'web' AS name`;
const PLACE = { sourceId: 1, inventoryId: 2 };
const PLANNED = { name: 'web', description: null, delivered: '', digest: '' };
const CLAIM = { name: 'web', delivered: '{}', mergedDigest: '' };
const PAIRS = { groups: ['web'], members: ['web1'] };

export default {
  repositories: [
    samplesOf(inventories.InventoriesRepository, {
      usable: [[[1], CALLER]],
      copyInstanceGroups: [[1, 2, CALLER]],
      described: [[1]],
      smartSiblings: [[1]],
      lock: [[[1]]],
      lockOfHosts: [[[1], CALLER]],
      lockOfOrganization: [[1]],
      organizationOf: [[1]],
      membersNamed: [[1, ['localhost']]],
      totalHosts: [[1]],
      markForDeletion: [[1]],
      pendingAmong: [[[1], CALLER]],
    }),
    samplesOf(inventoryInputs.InventoryInputsRepository, {
      of: [[1]],
      pairsOf: [[[1]]],
      unauthorized: [[1]],
      setAttachedBy: [[1, 2, 3]],
      copy: [[1, 2, 3]],
    }),
    samplesOf(hosts.HostsRepository, {
      originalsIn: [[1]],
      originalOf: [[1]],
      showLastJobsOfOriginals: [[1]],
      described: [[sql`TRUE`]],
      describedByName: [[sql`TRUE`, 'web']],
      describedMentioning: [[sql`TRUE`, ['10.0.0.1']]],
      byName: [[1, 'web']],
      countMembers: [[MEMBERS]],
      inventoriesWith: [[1, MEMBERS]],
      countNames: [
        [1, NAMES, null],
        [1, NAMES, { inventory: 2 }],
        [1, NAMES, { host: 2 }],
      ],
      removeWithin: [[[1]]],
      removeSome: [[1, 10]],
      copy: [[1, 2, 3]],
    }),
    samplesOf(givenHosts.HostWritesRepository, {
      findTarget: [[1, CALLER, sql`NULL`]],
      lockReadable: [[[1], CALLER]],
      insertAll: [[1, GIVEN]],
      namesOf: [[[1]]],
      removeAll: [[[1]]],
      join: [[1, GIVEN]],
    }),
    samplesOf(hostFacts.HostFactsRepository, {
      of: [[1]],
      fresh: [[[1], 3600, 1]],
      store: [[sql`SELECT 1`, 1, [{ host_id: 1, shared: '{}', own: '{}' }]]],
    }),
    samplesOf(groups.GroupsRepository, {
      byName: [[1, 10]],
      variablesBytes: [[1]],
      described: [[1]],
      removeAll: [[[1]]],
      removeSome: [[1, 10]],
      copy: [[1, 2, 3]],
    }),
    samplesOf(groupHosts.GroupHostsRepository, { of: [[[1]]], copy: [[1, 2]] }),
    samplesOf(importedObjects.ImportedObjectsRepository, {
      knownGroups: [[PLACE]],
      knownHosts: [[PLACE]],
      stored: [
        ['hosts', PLACE, [1]],
        ['groups', PLACE, [1]],
      ],
      createGroups: [[PLACE, [PLANNED]]],
      createHosts: [[PLACE, [{ ...PLANNED, instanceId: 'i-1', isEnabled: null }]]],
      updateGroups: [[[{ id: 1, variables: '' }]]],
      freeNames: [[[1]]],
      removeImported: [
        ['hosts', 1],
        ['groups', 1],
      ],
      updateHosts: [[[{ id: 1, name: 'web', variables: null, instanceId: null, isEnabled: true }]]],
      removeAll: [
        ['hosts', [1]],
        ['groups', [1]],
      ],
      claim: [
        ['hosts', PLACE, [CLAIM]],
        ['groups', PLACE, [CLAIM]],
      ],
      release: [
        ['hosts', PLACE, [1]],
        ['groups', PLACE, [1]],
      ],
    }),
    samplesOf(importedMembers.ImportedMembersRepository, {
      lift: [[[1]]],
      pruneHosts: [[PLACE, PAIRS]],
      pruneChildren: [[PLACE, PAIRS]],
      addHosts: [[PLACE, PAIRS]],
      addChildren: [[PLACE, PAIRS]],
      edges: [[PLACE]],
      variables: [[PLACE]],
      storeVariables: [[PLACE, { variables: '', delivered: '' }]],
    }),
    samplesOf(groupChildren.GroupChildrenRepository, {
      isWithin: [[1, 2]],
      edgesBelow: [[1]],
      edgesOf: [[[1]]],
      copy: [[1, 2]],
    }),
  ],
  fragments: [
    fragmentsOf(hostFacts, {
      hasFacts: {
        calls: [['t', { ansible_system: 'Linux' }]],
        inside: (condition) => sql`SELECT 1 FROM hosts t WHERE ${condition}`,
      },
    }),
    fragmentsOf(importedObjects, { isClaimed: [[sql`1`]] }),
    fragmentsOf(inventories, {
      allInventories: { calls: [[]], inside: asQuery },
      inventoryExcludesGroups: [[sql`1`]],
      totalHostsOf: [[sql`1`]],
      organizationOfInventory: [[1]],
      inventoriesReaching: [[1]],
      countHostsOf: { calls: [[[1], sql`TRUE`]], inside: asQuery },
    }),
    fragmentsOf(inventoryInputs, {
      inputsOf: { calls: [[sql`1`]], inside: asQuery },
      inventoriesWithInputs: { calls: [[]], inside: asQuery },
    }),
    fragmentsOf(hosts, {
      firstOfEachName: {
        calls: [['t', 1, () => sql`TRUE`]],
        inside: (members) => sql`SELECT 1 FROM hosts t WHERE ${members}`,
      },
      lockInventoriesOf: { calls: [[sql`SELECT 1`]], inside: (statement) => statement },
      showLastJob: {
        calls: [[1, sql`SELECT 1 AS id, 2 AS summary_id`]],
        inside: (statement) => statement,
      },
      hideLastJobs: { calls: [[sql`SELECT 1 AS id`]], inside: (statement) => statement },
      allHosts: { calls: [[]], inside: asQuery },
      originalsOf: { calls: [[[1]]], inside: asQuery },
      constructedOf: {
        calls: [[sql`SELECT 1 AS id, 'web' AS name, 2 AS summary_id`]],
        inside: asQuery,
      },
      hostNamesOf: [[1]],
      countHostNames: [[sql`'{1}'::int[]`]],
    }),
    fragmentsOf(givenHosts, {
      checkQuery: [[1, GIVEN, { onConflict: 'error', max: 5 }]],
      writeQuery: {
        calls: [
          [1, GIVEN, 'error'],
          [1, GIVEN, 'update'],
        ],
        inside: writing,
      },
      dryRunQuery: { calls: [[1, GIVEN]], inside: writing },
    }),
    fragmentsOf(groups, { groupsShownOf: { calls: [[sql`1`, 5]], inside: asQuery } }),
    fragmentsOf(groupHosts, { groupsOfHost: [[1]], hostsBelow: [[1]] }),
    fragmentsOf(groupChildren, {
      groupAndDescendants: [[sql`1`]],
      groupsAndAncestors: [[sql`SELECT 1`]],
      isSubgroup: [[sql`1`]],
    }),
  ],
} satisfies FeatureSamples;

import { InitialSchema1795255051169 } from './1795255051169-initial-schema.js';
import { RolesAndRules1795255051170 } from './1795255051170-roles-and-rules.js';
import { InventoryCounters1795255051171 } from './1795255051171-inventory-counters.js';
import { LabelsAndGroups1795258876831 } from './1795258876831-labels-and-groups.js';
import { DefaultInstanceGroup1795258876832 } from './1795258876832-default-instance-group.js';
import { HostOrderIndex1795259441284 } from './1795259441284-host-order-index.js';
import { Workflows1795259594209 } from './1795259594209-workflows.js';

/** Every migration, oldest first. Named imports, so that the compiled and the test run see the same. */
export const migrations = {
  InitialSchema1795255051169,
  RolesAndRules1795255051170,
  InventoryCounters1795255051171,
  LabelsAndGroups1795258876831,
  DefaultInstanceGroup1795258876832,
  HostOrderIndex1795259441284,
  Workflows1795259594209,
};

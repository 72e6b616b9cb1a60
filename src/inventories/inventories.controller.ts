import { Get } from '@nestjs/common';
import { accessList, objectRoles } from '../access/sublists.js';
import { attachInstanceGroups } from '../instances/sublists.js';
import type { Actor } from '../common/access.js';
import type { QueryParameters } from '../common/list/query.js';
import type { Row } from '../common/resource/define-resource.js';
import { CurrentActor, ListParams, Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import * as json from '../common/fields/json-schema.js';
import { ref, resourceRef } from '../common/resource/resource-schema.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { related, SubList } from '../common/rest/sublist.js';
import { attachLabels } from '../labels/sublists.js';
import { commandsOfInventory } from './command-sublists.js';
import { groups, inventories } from './inventories.resource.js';
import { InventoryScript } from './inventory-script.service.js';
import { inputInventories } from './input-inventories.js';
import {
  hostsOfInventory,
  inventoryActivity,
  partsOfInventory,
  rootGroups,
  unlessDeleting,
} from './sublists.js';
import { InventoryTree } from './inventory-tree.service.js';
import { VariableDataController } from './variable-data.controller.js';

/** Field of a group in a tree, in addition to its fields in lists. */
const SUBGROUPS = { children: json.list(ref('GroupTree')) };

const SCRIPT_PARAMETERS = [
  { name: 'hostvars', schema: json.BOOLEAN, description: 'Adds the variables of all hosts.' },
  {
    name: 'towervars',
    schema: json.BOOLEAN,
    description: 'Adds variables that name each host here.',
  },
  { name: 'all', schema: json.BOOLEAN, description: 'Adds hosts that are disabled.' },
  {
    name: 'host',
    schema: json.STRING,
    description: 'Name of the one host to show the variables of.',
  },
  { name: 'subset', schema: json.STRING, description: 'A share of the hosts: `slice1of3`.' },
];

@Resource(inventories)
@SubList('hosts', hostsOfInventory())
@SubList('groups', partsOfInventory('groups'))
@SubList('root_groups', rootGroups())
@SubList('job_templates', related('job_templates'))
@SubList('labels', unlessDeleting(attachLabels()))
@SubList('instance_groups', unlessDeleting(attachInstanceGroups()))
@SubList('ad_hoc_commands', commandsOfInventory())
@SubList('inventory_sources', partsOfInventory('inventory_sources'))
@SubList('input_inventories', unlessDeleting(inputInventories()))
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', inventoryActivity())
export class InventoriesController extends ResourceController(inventories) {
  constructor(
    private readonly scripts: InventoryScript,
    private readonly trees: InventoryTree,
  ) {
    super();
  }

  @Route({
    link: 'script',
    operationId: 'inventories_script_read',
    summary: 'Inventory document of Ansible.',
    parent: inventories,
    query: SCRIPT_PARAMETERS,
    response: json.freeObject(
      'Groups by name, and the variables of hosts under `_meta`; or those of one host.',
    ),
  })
  @Get(':id/script')
  script(@Target() inventory: Row, @ListParams() query: QueryParameters): Promise<object> {
    return this.scripts.document(inventory, query);
  }

  @Route({
    link: 'tree',
    operationId: 'inventories_tree_read',
    summary: 'Root groups of one inventory, each with its subgroups under children.',
    parent: inventories,
    resource: groups,
    adds: SUBGROUPS,
    response: json.list(ref('GroupTree')),
    components: { GroupTree: { allOf: [resourceRef(groups), json.object(SUBGROUPS)] } },
  })
  @Get(':id/tree')
  tree(@Target() inventory: Row, @CurrentActor() actor: Actor): Promise<object[]> {
    return this.trees.of(inventory, actor);
  }
}

@Resource(inventories, 'api/v2/inventories/:id/variable_data')
export class InventoryVariableDataController extends VariableDataController {}

import { Get, Req } from '@nestjs/common';
import { accessList, objectRoles } from '../access/sublists.js';
import { attachInstanceGroups } from '../instances/sublists.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/rest/route.js';
import { freeObject, list, object } from '../common/fields/json-schema.js';
import { ref, resourceRef } from '../common/resource/resource-schema.js';
import { Copyable } from '../common/rest/copy.js';
import { Machinery } from '../common/rest/machinery.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children, related } from '../common/rest/sublist-kinds.js';
import { noneOf } from '../empty-lists/sublists.js';
import { attachLabels } from '../labels/sublists.js';
import { groups, inventories } from './inventories.resource.js';
import { copyMembers } from './inventory-copy.js';
import { InventoryScript } from './inventory-script.js';
import { inventoryActivity, rootGroups } from './inventory-sublists.js';
import { InventoryTree } from './inventory-tree.js';
import { VariableData } from './variable-data.js';

inventories.links.set('script', 'script').set('tree', 'tree');

/** What a group of a tree has besides what it has in lists. */
const SUBGROUPS = { children: list(ref('GroupTree')) };

@Resource(inventories)
@VariableData()
@Copyable({ copied: copyMembers })
@SubList('hosts', children('hosts', { needs: 'change' }))
@SubList('groups', children('groups', { needs: 'change' }))
@SubList('root_groups', rootGroups())
@SubList('job_templates', related('job_templates'))
@SubList('labels', attachLabels())
@SubList('instance_groups', attachInstanceGroups())
@SubList('inventory_sources', noneOf('inventory_source'))
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', inventoryActivity())
export class InventoriesController extends ResourceController(inventories) {
  constructor(
    machinery: Machinery,
    private readonly scripts: InventoryScript,
    private readonly trees: InventoryTree,
  ) {
    super(machinery);
  }

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'inventories_script_read',
    summary:
      'Inventory document of Ansible. Query: hostvars, towervars, all (disabled hosts too), host, subset (slice1of3).',
    parent: inventories,
    response: freeObject(
      'Groups by name, and the variables of hosts under `_meta`; or those of one host.',
    ),
  })
  @Get(':id/script')
  async script(@Req() { params, query, actor }: ApiRequest): Promise<object> {
    const inventory = await this.machinery.resources.load(inventories, params.id, actor);
    return this.scripts.document(inventory, query);
  }

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'inventories_tree_read',
    summary: 'Root groups of one inventory, each with its subgroups under children.',
    parent: inventories,
    resource: groups,
    adds: SUBGROUPS,
    response: list(ref('GroupTree')),
    components: { GroupTree: { allOf: [resourceRef(groups), object(SUBGROUPS)] } },
  })
  @Get(':id/tree')
  async tree(@Req() { params, actor }: ApiRequest): Promise<object[]> {
    const inventory = await this.machinery.resources.load(inventories, params.id, actor);
    return this.trees.of(inventory, actor);
  }
}

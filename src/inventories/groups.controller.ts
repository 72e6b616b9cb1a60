import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { related, SubList } from '../common/rest/sublist.js';
import { commandsOfGroup } from './command-sublists.js';
import { groups } from './inventories.resource.js';
import {
  resultsOfHosts,
  allHostsOfGroup,
  childGroups,
  members,
  potentialChildren,
} from './sublists.js';
import { VariableDataController } from './variable-data.controller.js';

@Resource(groups)
@SubList('hosts', members('hosts'))
@SubList('all_hosts', allHostsOfGroup())
@SubList('children', childGroups())
@SubList('potential_children', potentialChildren())
@SubList('job_events', resultsOfHosts('job_event'))
@SubList('job_host_summaries', resultsOfHosts('job_host_summary'))
@SubList('inventory_sources', related('inventory_sources'))
@SubList('ad_hoc_commands', commandsOfGroup())
@SubList('activity_stream', activityOf())
export class GroupsController extends ResourceController(groups) {}

@Resource(groups, 'api/v2/groups/:id/variable_data')
export class GroupVariableDataController extends VariableDataController {}

import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { related } from '../common/rest/sublist-kinds.js';
import { hosts } from './inventories.resource.js';
import { allGroups, hostActivity, members } from './inventory-sublists.js';
import { VariableData } from './variable-data.js';

@Resource(hosts)
@VariableData()
@SubList('groups', members('groups'))
@SubList('all_groups', allGroups())
@SubList('job_events', related('job_events', { events: true }))
@SubList('job_host_summaries', related('job_host_summaries'))
@SubList('activity_stream', hostActivity())
export class HostsController extends ResourceController(hosts) {}

import { Get } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { Reply } from '../common/http/reply.js';
import type { Row } from '../common/resource/define-resource.js';
import { Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { related, SubList } from '../common/rest/sublist.js';
import { commandsOfHost } from './command-sublists.js';
import { HostFactsRepository } from './host-facts.repository.js';
import { HostsRepository } from './hosts.repository.js';
import { hosts } from './inventories.resource.js';
import { allGroups, hostActivity, members, smartInventories } from './sublists.js';
import { VariableDataController } from './variable-data.controller.js';

@Resource(hosts)
@SubList('groups', members('groups'))
@SubList('all_groups', allGroups())
@SubList('smart_inventories', smartInventories())
@SubList('job_events', related('job_events', { events: true }))
@SubList('job_host_summaries', related('job_host_summaries'))
@SubList('inventory_sources', related('inventory_sources'))
@SubList('ad_hoc_commands', commandsOfHost())
@SubList('ad_hoc_command_events', related('ad_hoc_command_events', { events: true }))
@SubList('activity_stream', hostActivity())
export class HostsController extends ResourceController(hosts) {
  constructor(
    private readonly knownFacts: HostFactsRepository,
    private readonly hosts: HostsRepository,
  ) {
    super();
  }

  @Route({
    link: 'ansible_facts',
    operationId: 'hosts_ansible_facts_read',
    summary: 'Facts of one host that jobs with use_fact_cache stored.',
    parent: hosts,
    redirects: true,
    response: json.freeObject('Facts by name; empty if no facts are stored.'),
  })
  @Get(':id/ansible_facts')
  async facts(@Target() host: Row): Promise<object> {
    const original = await this.hosts.originalOf(host.id);
    if (original === undefined) return this.knownFacts.of(host.id);
    return new Reply(302, undefined, { Location: `${hosts.url(original)}ansible_facts/` });
  }
}

@Resource(hosts, 'api/v2/hosts/:id/variable_data')
export class HostVariableDataController extends VariableDataController {}

import { Body, Controller, Get, Ip, Param, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import { RateLimiter } from '../common/rate/rate-limiter.service.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Route } from '../common/rest/route.js';
import { Settings } from '../config/settings.js';
import { jobTemplates } from '../job-templates/job-templates.resource.js';
import { Char, Variables } from '../common/fields/field.js';
import { Callbacks } from './callbacks.service.js';
import { CallingHosts } from './calling-hosts.service.js';

/** Body of a provisioning callback (docs/contract/launching.md#provisioning-callbacks). */
class CallbackBody {
  @Char({ max: 1024, writeOnly: true, column: null, filter: false, help: 'Key of the template.' })
  host_config_key!: string;

  @Variables({
    writeOnly: true,
    column: null,
    filter: false,
    usesDefault: false,
    help: 'Variables, if the template prompts for variables.',
  })
  extra_vars!: string;
}

/**
 * Handles provisioning callbacks: a machine requests a job on itself
 * (docs/contract/launching.md#provisioning-callbacks).
 */
@ApiTags('job_templates')
@Controller('api/v2/job_templates/:id/callback')
export class CallbackController {
  constructor(
    private readonly callbacks: Callbacks,
    private readonly hosts: CallingHosts,
    private readonly resources: ResourceService,
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
  ) {}

  @Route({
    operationId: 'job_template_callback_retrieve',
    summary: 'The key of the template, and the hosts that match the address of the caller.',
    parent: jobTemplates,
    response: json.object({
      host_config_key: json.described(json.STRING, 'Key that hosts send.'),
      matching_hosts: json.described(
        json.list(json.STRING),
        'Names of the hosts that the address of the caller matches.',
      ),
    }),
  })
  @Get()
  async describe(
    @Target() template: Row,
    @CurrentActor() actor: Actor,
    @Ip() ip: string,
  ): Promise<object> {
    const { host_config_key: key } = await this.resources.show(jobTemplates, template, actor);
    const inventoryId = template.inventory_id;
    const mayRead = typeof inventoryId === 'number' && (await this.mayRead(inventoryId, actor));
    const hosts = mayRead ? await this.hosts.find(inventoryId, ip) : [];
    return { host_config_key: key, matching_hosts: hosts };
  }

  /** Returns true if the caller can read the inventory, and therefore the names of its hosts. */
  private async mayRead(inventoryId: number, actor: Actor): Promise<boolean> {
    const query = { id: String(inventoryId) };
    const page = await this.resources.list(resource('inventory'), query, actor);
    return page.results.length > 0;
  }

  @Route({
    access: 'signature',
    operationId: 'job_template_callback',
    summary: 'Launch the template on the host that sends the request with the key of the template.',
    response: json.object({
      job: json.described(json.WIDE_INTEGER, 'Id of the launched job.'),
      url: json.described(json.STRING, 'Path of the launched job.'),
    }),
    status: 201,
  })
  @ApiParam({ name: 'id', description: 'Id of the job template.', schema: { type: 'string' } })
  @Post()
  async launch(
    @Param('id') id: string,
    @Body() body: CallbackBody,
    @Ip() ip: string,
  ): Promise<object> {
    const templateId = /^\d{1,9}$/.test(id) ? Number(id) : 0;
    const { RECEIVER_RATE: rate } = this.settings;
    await this.limiter.take('callback', `${templateId}:${ip}`, rate);
    const { host_config_key: key, extra_vars: extraVars = '' } = body;
    const run = await this.callbacks.launch({ templateId, key, address: ip, extraVars });
    return { [run.type]: run.id, url: resource(run.type).url(run.id) };
  }
}

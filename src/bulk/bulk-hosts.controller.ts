import { Body, Controller, Get, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { keyedRequest } from '../common/rest/idempotency.service.js';
import { sendsLines, wantsLines } from '../common/http/lines.js';
import { Reply } from '../common/http/reply.js';
import { DRY_RUN_PARAMETER } from '../common/http/dry-run.js';
import { replyInLines } from './reply-in-lines.js';
import type { ApiRequest } from '../common/http/request.js';
import type { Actor } from '../common/access.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor, DryRun } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { BulkHostCreate } from './bulk-host-create.service.js';
import { BulkHostStream } from './bulk-host-stream.service.js';
import { BulkHostDelete } from './bulk-host-delete.service.js';
import { HostCreateRequest, HostDeleteRequest } from './bulk-host.schema.js';
import { BULK_HOST_ENTRY } from './bulk-host-entry.schema.js';
import {
  CREATE_DRY_RUN,
  CREATED,
  CREATED_LINES,
  DELETE_DRY_RUN,
  DELETED,
  DETAIL,
  TARGET_PARAMETERS,
} from './bulk-answers.js';

/**
 * Creation and deletion of many hosts in one request (docs/contract/bulk.md). `access` can say no more than
 * `authenticated`: the body names the inventory or the hosts, and a missing permission to change the
 * inventory is reported with the other faults of the body.
 */
@ApiTags('bulk')
@Controller('api/v2/bulk')
export class BulkHostsController {
  constructor(
    private readonly creations: BulkHostCreate,
    private readonly streams: BulkHostStream,
    private readonly deletions: BulkHostDelete,
  ) {}

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'bulk_host_create_help',
    summary: 'Describes the bulk creation of hosts.',
    response: DETAIL,
  })
  @Get('host_create')
  aboutCreate(): object {
    return { detail: 'Bulk create hosts with this endpoint' };
  }

  /**
   * Creates hosts, for callers who may change the inventory (`HostWritesRepository.findTarget`). A body in
   * lines is not in `body`: the handler reads it from the request.
   */
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'bulk_host_create',
    summary:
      'Create many hosts in one inventory; all or none. `?dry_run=1` only checks. As lines, one host each, for inventories of any size: the URL then contains `inventory` and `on_conflict`, errors are listed by line, and `Accept: application/x-ndjson` streams the progress.',
    example: { inventory: 1, hosts: [{ name: 'web-1' }, { name: 'web-2' }] },
    lines: { body: BULK_HOST_ENTRY, response: CREATED_LINES },
    response: CREATED,
    alternatives: CREATE_DRY_RUN,
    query: TARGET_PARAMETERS,
    status: 201,
  })
  @Post('host_create')
  @Idempotent()
  create(
    @Req() request: ApiRequest,
    @Body() body: HostCreateRequest,
    @CurrentActor() actor: Actor,
    @DryRun() dryRun: boolean,
  ): Promise<object> {
    return sendsLines(request)
      ? this.createFromLines(request, dryRun)
      : this.creations.create(body, actor, dryRun);
  }

  /**
   * Creates hosts from lines. The result is unknown until the body is read, so a response in lines
   * reports it in the last line.
   */
  private async createFromLines(request: ApiRequest, dryRun: boolean): Promise<Reply> {
    const given = await this.streams.prepare(request.query, request.actor);
    const stream = { ...given, source: request, keyed: keyedRequest(request), dryRun };
    if (!wantsLines(request)) return this.streams.create(stream, () => undefined);
    return replyInLines((report) => this.streams.create(stream, report));
  }

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'bulk_host_delete_help',
    summary: 'Describes the bulk deletion of hosts.',
    response: DETAIL,
  })
  @Get('host_delete')
  aboutDelete(): object {
    return { detail: 'Bulk delete hosts with this endpoint' };
  }

  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'bulk_host_delete',
    summary: 'Delete many hosts, all or none. `?dry_run=1` only checks.',
    query: [DRY_RUN_PARAMETER],
    example: { hosts: [1, 2] },
    response: DELETED,
    alternatives: DELETE_DRY_RUN,
    status: 201,
  })
  @Post('host_delete')
  @Idempotent()
  async delete(
    @Body() body: HostDeleteRequest,
    @CurrentActor() actor: Actor,
    @DryRun() dryRun: boolean,
  ): Promise<object> {
    const deleted = await this.deletions.remove(body, actor, dryRun);
    return dryRun ? deleted : Reply.located(deleted, '/api/v2/hosts/');
  }
}

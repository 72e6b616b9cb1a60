import { Controller, Get, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency } from '../common/http/idempotency.js';
import type { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/http/route.js';
import { BulkHostCreate } from './bulk-host-create.service.js';
import { BulkHostDelete } from './bulk-host-delete.service.js';
import { HOST_CREATE_FIELDS, HOST_DELETE_FIELDS } from './bulk-host.schema.js';
import {
  CREATE_DRY_RUN,
  CREATED,
  DELETE_DRY_RUN,
  DELETED,
  DETAIL,
  DRY_RUN_PARAMETER,
} from './bulk-answers.js';
import { isDryRun } from './dry-run.js';

/** Creating and deleting many hosts in one request (seed, Bulk). */
@ApiTags('bulk')
@Controller('api/v2/bulk')
export class BulkHostsController {
  constructor(
    private readonly creations: BulkHostCreate,
    private readonly deletions: BulkHostDelete,
    private readonly idempotency: Idempotency,
  ) {}

  @Get('host_create')
  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'bulk_host_create_help',
    summary: 'What the bulk creation of hosts is.',
    response: DETAIL,
  })
  aboutCreate(): object {
    return { detail: 'Bulk create hosts with this endpoint' };
  }

  @Post('host_create')
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'bulk_host_create',
    summary: 'Create many hosts in one inventory; all or none. `?dry_run=1` only checks.',
    body: HOST_CREATE_FIELDS,
    query: [DRY_RUN_PARAMETER],
    example: { inventory: 1, hosts: [{ name: 'web-1' }, { name: 'web-2' }] },
    response: CREATED,
    alternatives: CREATE_DRY_RUN,
    status: 201,
  })
  create(@Req() request: ApiRequest): Promise<Reply> {
    const { body, actor } = request;
    if (isDryRun(request)) return this.creations.create(body, actor, true);
    return this.idempotency.once(request, () => this.creations.create(body, actor, false));
  }

  @Get('host_delete')
  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'bulk_host_delete_help',
    summary: 'What the bulk deletion of hosts is.',
    response: DETAIL,
  })
  aboutDelete(): object {
    return { detail: 'Bulk delete hosts with this endpoint' };
  }

  @Post('host_delete')
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'bulk_host_delete',
    summary: 'Delete many hosts; all or none. `?dry_run=1` only checks.',
    body: HOST_DELETE_FIELDS,
    query: [DRY_RUN_PARAMETER],
    example: { hosts: [1, 2] },
    response: DELETED,
    alternatives: DELETE_DRY_RUN,
    status: 201,
  })
  delete(@Req() request: ApiRequest): Promise<Reply> {
    const { body, actor } = request;
    if (isDryRun(request)) return this.deletions.remove(body, actor, true);
    return this.idempotency.once(request, () => this.deletions.remove(body, actor, false));
  }
}

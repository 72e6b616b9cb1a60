import { PassThrough } from 'node:stream';
import { Body, Controller, Get, Post, Req, Logger, StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { keyedRequest } from '../common/rest/idempotency.service.js';
import { sendsLines, wantsLines, LINES_TYPE } from '../common/http/lines.js';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import type { Actor } from '../common/access.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor, DRY_RUN_PARAMETER, DryRun } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { BulkHostCreate } from './bulk-host-create.service.js';
import { BulkHostStream } from './bulk-host-stream.service.js';
import { BulkHostDelete } from './bulk-host-delete.service.js';
import { HostCreateRequest, HostDeleteRequest } from './bulk-host.dto.js';
import { BULK_HOST_ENTRY } from './bulk-host-entry.dto.js';
import {
  CREATE_DRY_RUN,
  CREATED,
  CREATED_LINES,
  DELETE_DRY_RUN,
  DELETED,
  DETAIL,
  TARGET_PARAMETERS,
} from './bulk-responses.js';
import { errorResponseOf } from '../common/rest/errors.filter.js';
import { stackOf } from '../common/errors/errors.js';

/**
 * Creation and deletion of many hosts in one request (docs/contract/bulk.md). The routes
 * require only an authenticated caller, because the body names the inventory or the hosts. Services check
 * the permission to change the inventory.
 */
@ApiTags('bulk')
@Controller('api/v2/bulk')
export class BulkHostsController {
  constructor(
    private readonly bulkCreate: BulkHostCreate,
    private readonly bulkStream: BulkHostStream,
    private readonly bulkDelete: BulkHostDelete,
  ) {}

  @Route({
    operationId: 'bulk_host_create_help',
    summary: 'Describe the bulk creation of hosts.',
    response: DETAIL,
  })
  @Get('host_create')
  describeCreate(): object {
    return { detail: 'Bulk create hosts with this endpoint' };
  }

  /**
   * Creates hosts, for callers who may change the inventory (`HostWritesRepository.findTarget`). For
   * NDJSON, `body` is empty: the handler reads the request as a stream.
   */
  @Route({
    operationId: 'bulk_host_create',
    summary:
      'Create many hosts in one inventory, all or none. `?dry_run=1` validates and reports the effects but changes nothing. For large inventories, send NDJSON with one host per line. The URL then contains `inventory` and `on_conflict`, and errors are listed by line. `Accept: application/x-ndjson` streams the progress.',
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
      : this.bulkCreate.create(body, actor, dryRun);
  }

  /**
   * Creates hosts from lines. The result is unknown until the body is read, so an NDJSON response
   * reports the result in its last line.
   */
  private async createFromLines(request: ApiRequest, dryRun: boolean): Promise<Reply> {
    const target = await this.bulkStream.prepare(request.query, request.actor);
    const stream = { ...target, source: request, keyed: keyedRequest(request), dryRun };
    if (!wantsLines(request)) return this.bulkStream.create(stream, () => undefined);
    return ndjsonReply((report) => this.bulkStream.create(stream, report));
  }

  @Route({
    operationId: 'bulk_host_delete_help',
    summary: 'Describe the bulk deletion of hosts.',
    response: DETAIL,
  })
  @Get('host_delete')
  describeDelete(): object {
    return { detail: 'Bulk delete hosts with this endpoint' };
  }

  @Route({
    operationId: 'bulk_host_delete',
    summary: 'Delete many hosts, all or none. `?dry_run=1` deletes nothing.',
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
    const deleted = await this.bulkDelete.remove(body, actor, dryRun);
    return dryRun ? deleted : Reply.located(deleted, '/api/v2/hosts/');
  }
}

/**
 * Returns a response that starts before its request is processed. The lines report progress. The last line
 * contains the status and the body of the regular response, as `result` or as `error`.
 *
 * @param work continues after the client disconnects, unless `work` itself detects the disconnection
 */
function ndjsonReply<Progress>(
  work: (report: (progress: Progress) => void) => Promise<Reply>,
): Reply {
  const out = new PassThrough();
  const write = (line: object): void => {
    if (!out.destroyed) out.write(`${JSON.stringify(line)}\n`);
  };
  void work((progress) => write({ progress }))
    .then(
      ({ status, body }) => write({ status, result: body }),
      (error: unknown) => write(errorLine(error)),
    )
    .finally(() => out.end());
  return new Reply(200, new StreamableFile(out, { type: LINES_TYPE }), {
    // Disables the response buffering of reverse proxies.
    'X-Accel-Buffering': 'no',
  });
}

function errorLine(error: unknown): object {
  const { status, body } = errorResponseOf(error);
  if (status >= 500) {
    const reason = stackOf(error);
    new Logger('Errors').error({ message: 'NDJSON response failed', status, error: reason });
  }
  return { status, error: body };
}

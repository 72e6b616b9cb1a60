import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import * as json from '../common/fields/json-schema.js';
import { Route } from '../common/rest/route.js';

@ApiTags('bulk')
@Controller('api/v2/bulk')
export class BulkController {
  @Route({
    operationId: 'bulk',
    summary: 'List the bulk operations.',
    response: json.mapOf(json.STRING),
  })
  @Get()
  index(): Record<string, string> {
    return {
      host_create: '/api/v2/bulk/host_create/',
      host_delete: '/api/v2/bulk/host_delete/',
      job_launch: '/api/v2/bulk/job_launch/',
    };
  }
}

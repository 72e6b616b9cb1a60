import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import * as json from '../common/fields/json-schema.js';
import { Reply } from '../common/http/reply.js';
import { publicRoute, Route } from '../common/rest/route.js';
import { HealthService } from './health.service.js';

const STATE = json.object({
  ready: json.described(json.BOOLEAN, 'True if the server can respond to requests.'),
  database: json.described(json.BOOLEAN, 'True if the database responds.'),
  schema: json.described(json.BOOLEAN, 'True if all migrations of this version have run.'),
  redis: json.described(json.BOOLEAN, 'True if Redis responds.'),
});

/** Health endpoints for the operator and the orchestrator (docs/contract/operations.md#health). */
@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Route(
    publicRoute(
      'health_live',
      'The process runs.',
      json.object({ status: json.described(json.STRING, 'Always `ok`.') }),
    ),
  )
  @Get('live')
  live(): object {
    return { status: 'ok' };
  }

  @Route({
    ...publicRoute(
      'health_ready',
      'The process can serve requests: the database is migrated and the process is not shutting down.',
      STATE,
    ),
    alternatives: [{ status: 503, description: 'Not ready.', response: STATE }],
  })
  @Get('ready')
  async ready(): Promise<object> {
    const state = await this.health.state();
    return state.ready ? state : new Reply(503, state);
  }
}

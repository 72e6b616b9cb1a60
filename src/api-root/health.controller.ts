import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { BOOLEAN, described, object, STRING } from '../common/fields/json-schema.js';
import { Reply } from '../common/http/reply.js';
import { publicRoute, Route } from '../common/rest/route.js';
import { HealthService } from './health.service.js';

const STATE = object({
  ready: described(BOOLEAN, 'True if the server can respond to requests.'),
  database: described(BOOLEAN, 'True if the database responds.'),
  schema: described(BOOLEAN, 'True if all migrations of this version have run.'),
  redis: described(BOOLEAN, 'True if Redis responds.'),
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
      object({ status: described(STRING, 'Always `ok`.') }),
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

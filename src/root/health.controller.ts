import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Route, type RouteInfo } from '../common/http/route.js';
import { HealthService } from './health.service.js';

const probe = (operationId: string, summary: string): RouteInfo => ({
  kind: 'document',
  access: 'public',
  operationId,
  summary,
  response: { type: 'object', additionalProperties: true },
});

/** Probes of the operator and the orchestrator (design 8). */
@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get('live')
  @Route(probe('health_live', 'The process runs.'))
  live(): object {
    return { status: 'ok' };
  }

  @Get('ready')
  @Route(probe('health_ready', 'The process can serve: database reached, not shutting down.'))
  async ready(@Res({ passthrough: true }) response: Response): Promise<object> {
    const state = await this.health.state();
    if (!state.ready) response.status(503);
    return state;
  }
}

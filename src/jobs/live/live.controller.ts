import { Controller, Get, Logger, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { BadRequest, Forbidden, NotFound } from '../../common/http/errors.js';
import type { ApiRequest } from '../../common/http/request.js';
import { Route } from '../../common/http/route.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { ResourceService } from '../../common/resource/resource.service.js';
import { projectUpdates } from '../../projects/project-updates.resource.js';
import { jobs } from '../jobs.resource.js';
import { EventStream } from './event-stream.js';
import { RunStreamService } from './run-stream.service.js';
import { StreamSlots } from './stream-slots.js';

const ROUTE = {
  kind: 'document',
  access: 'authenticated',
  summary:
    'New events and status changes of the run as server-sent events, from Last-Event-ID or ?after= on, until it is over.',
  produces: 'text/event-stream',
  response: {
    type: 'string',
    description:
      'Messages `job_event` (an event as in the list of events, `id` is its counter), `status` and, last of all, `end`.',
  },
  query: [
    {
      name: 'after',
      schema: { type: 'integer', minimum: 0 },
      description: 'Counter of the last event the client has; Last-Event-ID wins over it.',
    },
    {
      name: 'no_truncate',
      schema: { type: 'boolean' },
      description: 'Sends the whole output of events.',
    },
  ],
} as const;

/**
 * Runs while they run (decision 35). Reading the run is enough. No `related` link leads here: a client
 * that follows all links would wait for the end of the run.
 */
@ApiTags('jobs')
@Controller('api/v2')
export class LiveController {
  private readonly logger = new Logger('Live');

  constructor(
    private readonly resources: ResourceService,
    private readonly runs: RunStreamService,
    private readonly slots: StreamSlots,
  ) {}

  @Get('jobs/:id/events/stream')
  @Route({ ...ROUTE, operationId: 'jobs_events_stream', parent: jobs })
  ofJob(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    return this.answer(jobs, request, response);
  }

  @Get('project_updates/:id/events/stream')
  @Route({ ...ROUTE, operationId: 'project_updates_events_stream', parent: projectUpdates })
  ofProjectUpdate(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    return this.answer(projectUpdates, request, response);
  }

  private async answer(
    definition: ResourceDefinition,
    request: ApiRequest,
    response: Response,
  ): Promise<void> {
    const after = placeOf(request);
    const run = await this.resources.load(definition, request.params.id, request.actor);
    const slot = this.slots.take(request.actor.id);
    response.once('close', slot.free);
    const stream = new EventStream(response, slot.signal);
    stream.open();
    try {
      if (request.method !== 'HEAD') {
        await stream.begin();
        const { signal } = slot;
        await this.runs.follow(run, { definition, request, after, stream, signal });
      }
    } catch (error) {
      // The head is sent: what can be done is to end, and the client comes again and is told why.
      if (!(error instanceof Forbidden || error instanceof NotFound)) {
        this.logger.warn({
          message: 'stream ended',
          run: run.id,
          reason: (error as Error).message,
        });
      }
    } finally {
      response.end();
      slot.free();
    }
  }
}

/** Counter of the last event the client has: what it says when it comes again, else the URL's. */
function placeOf({ headers, query }: ApiRequest): number {
  const resumed = headers['last-event-id'];
  const text = [resumed === undefined || resumed === '' ? query.after : resumed].flat()[0] ?? '';
  if (text === '') return 0;
  if (!/^\d{1,9}$/.test(text)) {
    throw new BadRequest('Last-Event-ID and after must be whole numbers.');
  }
  return Number(text);
}

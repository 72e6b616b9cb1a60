import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { BadRequest } from '../../common/errors/errors.js';
import type { ApiRequest } from '../../common/http/request.js';
import { Route } from '../../common/rest/route.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { Settings } from '../../config/settings.js';
import { sql } from '../../database/sql.js';
import { projectUpdates } from '../../projects/project-updates.resource.js';
import { listJobEvents } from '../events/job-event-list.js';
import { jobs } from '../jobs.resource.js';
import { RunStreams, type NewsSender } from './run-streams.js';

/** How long a message of a worker may be lost before its news are found all the same. */
const PATIENCE_MS = 3000;
/** Events held in memory at once. */
const BATCH = '100';

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
 * Runs while they run (docs/contract/runs.md#live). Reading the run is enough. No `related` link
 * leads here: a client that follows all links would wait for the end of the run.
 */
@ApiTags('jobs')
@Controller('api/v2')
export class LiveController {
  constructor(
    private readonly resources: ResourceService,
    private readonly streams: RunStreams,
    private readonly settings: Settings,
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
    const sender = (run: Row): NewsSender => this.eventSender(run.id, after, request);
    await this.streams.serve({ definition, request, response, sender, patienceMs: PATIENCE_MS });
  }

  /** Sends the events behind the place the client has, in the order of their counters. */
  private eventSender(runId: number, start: number, { query, actor }: ApiRequest): NewsSender {
    const { no_truncate } = query;
    const paging = {
      page_size: BATCH,
      count_disabled: '1',
      ...(no_truncate === undefined ? {} : { no_truncate }),
    };
    let after = start;
    return async (stream, signal) => {
      const before = after;
      for (let hasNext = true; hasNext && !signal.aborted;) {
        const page = await listJobEvents(
          this.resources,
          { query: paging, actor },
          this.settings.EVENT_STDOUT_MAX_BYTES_DISPLAY,
          {
            scope: sql`t.job_id = ${runId} AND t.counter > ${after}`,
            visible: sql`TRUE`,
            orderBy: ['counter'],
          },
        );
        for (const event of page.results) {
          after = event.counter as number;
          await stream.send({ event: 'job_event', id: after, data: event });
        }
        ({ hasNext } = page);
      }
      return after !== before;
    };
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

import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { Response } from 'express';
import { BadRequest } from '../../common/errors/errors.js';
import type { Actor } from '../../common/access.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import { CommonServices } from '../../common/rest/common-services.service.js';
import {
  CurrentActor,
  Reauthorizer,
  ListParams,
  Target,
  type Reauthorize,
} from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { nextEvents } from '../events/run-events.js';
import { RunStreams, type StreamSender } from './run-streams.service.js';

/** Time after which the database is checked even without a message from a worker, in ms. */
const MAX_WAIT_MS = 3000;

const ROUTE = {
  kind: 'document',
  summary:
    'New events and status changes of the run as server-sent events, after Last-Event-ID or ?after=, until the run ends.',
  produces: 'text/event-stream',
  response: {
    type: 'string',
    description:
      'Messages: `job_event` (an event as in the list of events; `id` is its counter), `status` and finally `end`.',
  },
  query: [
    {
      name: 'after',
      schema: { type: 'integer', minimum: 0 },
      description: 'Counter of the last event the client has; Last-Event-ID takes precedence.',
    },
    {
      name: 'no_truncate',
      schema: { type: 'boolean' },
      description: 'Sends the whole output of events.',
    },
  ],
} as const;

/**
 * The live stream of a run (docs/contract/runs.md#live). Requires read access to the run. There is no
 * `related` link, because a client that follows all links would wait for the end of the run.
 */
@Controller()
export abstract class LiveEventsController {
  protected abstract readonly runs: ResourceDefinition;

  constructor(
    private readonly services: CommonServices,
    private readonly streams: RunStreams,
  ) {}

  @Route((runs) => ({ ...ROUTE, operationId: `${runs.path}_events_stream`, parent: runs }))
  @Get()
  stream(
    @Target() run: Row,
    @ListParams() query: QueryParameters,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CurrentActor() actor: Actor,
    @Reauthorizer() reauthorize: Reauthorize,
    @Res() response: Response,
  ): Promise<void> {
    const sender = eventSender(this.services, { runs: this.runs, id: run.id, query, lastEventId });
    const following = { run, actor, reauthorize, response, sender, maxWaitMs: MAX_WAIT_MS };
    return this.streams.serve(following);
  }
}

/** The run and query of a request for events. */
interface EventsRequest {
  runs: ResourceDefinition;
  id: number;
  query: QueryParameters;
  /** Value of the header `Last-Event-ID`. */
  lastEventId: string | undefined;
}

/** Returns a sender of the events after the client's position, in the order of their counters. */
function eventSender(services: CommonServices, request: EventsRequest): StreamSender {
  const { runs, id, query } = request;
  let after = positionOf(request);
  return async (stream, signal, actor) => {
    const { results, hasNext } = await nextEvents(services, runs, { id, after }, actor, query);
    for (const event of results) {
      if (signal.aborted) break;
      after = Number(event.counter);
      await stream.send({ event: 'job_event', id: after, data: event });
    }
    if (hasNext) return 'some';
    return results.length > 0 ? 'all' : 'nothing';
  };
}

/**
 * Returns the counter of the client's last event: from `Last-Event-ID` when it reconnects,
 * otherwise from the URL.
 */
function positionOf({ lastEventId = '', query }: EventsRequest): number {
  const text = lastEventId === '' ? ([query.after].flat()[0] ?? '') : lastEventId;
  if (text === '') return 0;
  if (!/^\d{1,9}$/.test(text)) {
    throw new BadRequest('Last-Event-ID and after must be whole numbers.');
  }
  return Number(text);
}

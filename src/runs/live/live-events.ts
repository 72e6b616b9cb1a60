import { Headers, RequestMethod, Res } from '@nestjs/common';
import type { Response } from 'express';
import { BadRequest } from '../../common/errors/errors.js';
import type { Actor } from '../../common/access.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import { addRoute } from '../../common/rest/add-route.js';
import type { CommonServices } from '../../common/rest/common-services.service.js';
import {
  CurrentActor,
  JudgeAgain,
  ListParams,
  Target,
  type Judge,
} from '../../common/rest/parameters.js';
import { controllerOf, type GenericController } from '../../common/rest/resource.controller.js';
import { sql } from '../../database/sql.js';
import { listEvents } from '../events/event-list.js';
import { jobEvents } from '../events/job-events.resource.js';
import { RunStreams, type NewsSender } from './run-streams.service.js';

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
 * Declares `/<runs>/<id>/events/stream/`: runs while they run (docs/contract/runs.md#live). Reading the
 * run is enough. No `related` link leads here: a client that follows all links would wait for the end
 * of the run.
 *
 * @param events as which its events are shown
 */
export function WithLiveEvents(events: ResourceDefinition = jobEvents): ClassDecorator {
  return (target) => {
    const controller = controllerOf(target);
    const { definition } = controller;
    addRoute(controller, 'events_stream', {
      method: RequestMethod.GET,
      path: ':id/events/stream',
      info: { ...ROUTE, operationId: `${definition.path}_events_stream`, parent: definition },
      parameters: [
        ...[Target(), ListParams(), Headers('last-event-id')],
        ...[CurrentActor(), JudgeAgain(), Res()],
      ],
      handler(
        this: GenericController,
        run: Row,
        query: QueryParameters,
        resumed: string | undefined,
        actor: Actor,
        judgeAgain: Judge,
        response: Response,
      ) {
        const sender = eventSender(this.services, run.id, { events, query, resumed });
        const patienceMs = PATIENCE_MS;
        const following = { run, actor, judgeAgain, response, sender, patienceMs };
        return this.services.find(RunStreams).serve(following);
      },
    });
  };
}

/** Who asks for events, and for which. */
interface Asked {
  events: ResourceDefinition;
  query: QueryParameters;
  /** `Last-Event-ID`. */
  resumed: string | undefined;
}

/** Sends a page of the events behind the place the client has, in the order of their counters. */
function eventSender(services: CommonServices, runId: number, asked: Asked): NewsSender {
  const { events, query } = asked;
  const { no_truncate } = query;
  const paging = {
    page_size: BATCH,
    count_disabled: '1',
    ...(no_truncate === undefined ? {} : { no_truncate }),
  };
  let after = placeOf(asked);
  return async (stream, signal, actor) => {
    const { results, hasNext } = await listEvents(events, services, paging, actor, {
      scope: sql`t.job_id = ${runId} AND t.counter > ${after}`,
      visible: sql`TRUE`,
      orderBy: ['counter'],
      events: true,
    });
    for (const event of results) {
      if (signal.aborted) break;
      after = Number(event.counter);
      await stream.send({ event: 'job_event', id: after, data: event });
    }
    if (hasNext) return 'some';
    return results.length > 0 ? 'all' : 'nothing';
  };
}

/** Counter of the last event the client has: what it says when it comes again, else the URL's. */
function placeOf({ resumed = '', query }: Asked): number {
  const text = resumed === '' ? ([query.after].flat()[0] ?? '') : resumed;
  if (text === '') return 0;
  if (!/^\d{1,9}$/.test(text)) {
    throw new BadRequest('Last-Event-ID and after must be whole numbers.');
  }
  return Number(text);
}

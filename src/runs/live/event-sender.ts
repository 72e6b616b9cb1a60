import type { QueryParameters } from '../../common/list/query.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import type { CommonServices } from '../../common/rest/common-services.service.js';
import { BadRequest } from '../../common/errors/errors.js';
import { nextEvents } from '../events/run-events.js';
import type { StreamSender } from './run-streams.service.js';

/** The run and query of a request for events. */
interface EventsRequest {
  runs: ResourceDefinition;
  id: number;
  query: QueryParameters;
  /** Value of the header `Last-Event-ID`. */
  lastEventId: string | undefined;
}

/** Returns a sender of the events after the client's position, in the order of their counters. */
export function eventSender(services: CommonServices, request: EventsRequest): StreamSender {
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

import type { Actor } from '../../common/access.js';
import type { Page } from '../../common/list/page.js';
import { BadRequest } from '../../common/errors/errors.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import type { Representation } from '../../common/resource/representation.js';
import type { CommonServices } from '../../common/rest/common-services.service.js';
import { listEvents } from '../../common/rest/event-list.js';
import type { RouteInfo } from '../../common/rest/route.js';
import { sql, TRUE } from '../../database/sql.js';
import type { StreamSender } from '../live/run-streams.service.js';
import { jobEvents } from './job-events.resource.js';
import { adHocCommandEvents, inventoryUpdateEvents } from './plain-events.resource.js';

/** Resources of events by type of run; other runs have those of jobs. */
const EVENTS = new Map<string, ResourceDefinition>([
  ['ad_hoc_command', adHocCommandEvents],
  ['inventory_update', inventoryUpdateEvents],
]);

/** Returns the resource that shows the events of a type of run. */
const eventsOf = ({ type }: ResourceDefinition): ResourceDefinition =>
  EVENTS.get(type) ?? jobEvents;

/** Declares the list of events of a run. Requires read access to the run. */
export const eventsRoute = (runs: ResourceDefinition, path: string): RouteInfo => ({
  kind: 'list',
  link: path,
  resource: eventsOf(runs),
  operationId: `${runs.path}_${path}_list`,
  summary: `Events of one ${runs.label.toLowerCase()}, in the order of its output.`,
  parent: runs,
  events: true,
});

/** Lists the events of a run in the order of its output. */
export const listEventsOfRun = (
  services: CommonServices,
  runs: ResourceDefinition,
  { id }: Row,
  query: QueryParameters,
  actor: Actor,
): Promise<Page<Representation>> =>
  listEvents(eventsOf(runs), services, query, actor, {
    events: true,
    scope: sql`t.job_id = ${id}`,
    visible: TRUE,
    orderBy: ['start_line', 'counter'],
  });

/** Maximum number of events in memory per live update. */
const BATCH = '100';

/**
 * Lists the next events of a run after a counter, for live updates. The caller has permission to
 * read the run.
 *
 * @param query may have `no_truncate`
 */
export const nextEvents = (
  services: CommonServices,
  runs: ResourceDefinition,
  { id, after }: { id: number; after: number },
  actor: Actor,
  { no_truncate }: QueryParameters = {},
): Promise<Page<Representation>> =>
  listEvents(
    eventsOf(runs),
    services,
    {
      page_size: BATCH,
      count_disabled: '1',
      ...(no_truncate === undefined ? {} : { no_truncate }),
    },
    actor,
    {
      events: true,
      scope: sql`t.job_id = ${id} AND t.counter > ${after}`,
      visible: TRUE,
      orderBy: ['counter'],
    },
  );

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

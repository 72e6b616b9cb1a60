import { RequestMethod, UseInterceptors } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { BOOLEAN, INTEGER, mapOf, object, STRING } from '../../common/fields/json-schema.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import { addRoute } from '../../common/rest/add-route.js';
import { CurrentActor, ListParams, Target } from '../../common/rest/parameters.js';
import { controllerOf, type GenericController } from '../../common/rest/resource.controller.js';
import { sql } from '../../database/sql.js';
import { listEvents } from '../../common/rest/event-list.js';
import { summarizeTree, UNFINISHED, type ChildrenSummary } from './job-event-tree.js';
import { jobEvents } from './job-events.resource.js';
import { MaxEventsInterceptor } from './max-events.interceptor.js';
import { JobEventsRepository } from './job-events.repository.js';

/**
 * Declares the list of events of a run, in the order of its output. Requires read access to the
 * run.
 *
 * @param events resource of the listed events
 */
export function WithEvents(path: string, events: ResourceDefinition = jobEvents): ClassDecorator {
  return (target) => {
    const controller = controllerOf(target);
    const { definition } = controller;
    addRoute(controller, path, {
      method: RequestMethod.GET,
      path: `:id/${path}`,
      info: {
        kind: 'list',
        link: path,
        access: 'authenticated',
        resource: events,
        operationId: `${definition.path}_${path}_list`,
        summary: `Events of one ${definition.label.toLowerCase()}, in the order of its output.`,
        parent: definition,
        events: true,
      },
      decorators: [UseInterceptors(MaxEventsInterceptor)],
      parameters: [Target(), ListParams(), CurrentActor()],
      handler(this: GenericController, run: Row, query: QueryParameters, actor: Actor) {
        return listEvents(events, this.services, query, actor, {
          events: true,
          scope: sql`t.job_id = ${run.id}`,
          visible: sql`TRUE`,
          orderBy: ['start_line', 'counter'],
        });
      },
    });
  };
}

const CHILDREN_SUMMARY = object({
  children_summary: mapOf(object({ rowNumber: INTEGER, numChildren: INTEGER })),
  meta_event_nested_uuid: mapOf(STRING),
  event_processing_finished: BOOLEAN,
  is_tree: BOOLEAN,
});

/** Declares `/<runs>/<id>/<events>/children_summary/`: the tree of a run's events. */
export function WithEventTree(path: string): ClassDecorator {
  return (target) => {
    const controller = controllerOf(target);
    const { definition } = controller;
    addRoute(controller, `${path}_children_summary`, {
      method: RequestMethod.GET,
      path: `:id/${path}/children_summary`,
      info: {
        kind: 'document',
        access: 'authenticated',
        operationId: `${definition.path}_${path}_children_summary`,
        summary: `How the events of one ${definition.label.toLowerCase()} hang together.`,
        parent: definition,
        response: CHILDREN_SUMMARY,
      },
      parameters: [Target()],
      async handler(this: GenericController, run: Row): Promise<ChildrenSummary> {
        if (run.event_processing_finished !== true) return UNFINISHED;
        const events = await this.services.find(JobEventsRepository).tree(run.id);
        return summarizeTree(events);
      },
    });
  };
}

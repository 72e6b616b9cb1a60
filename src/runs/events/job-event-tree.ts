import { entryOf } from '../../common/invariants.js';

/** Fields of an event that determine the tree. */
export interface TreeEvent {
  counter: number;
  uuid: string;
  parent_uuid: string;
  event: string;
}

/**
 * The tree of a run's events, for clients with collapsible events
 * (docs/contract/runs.md#event-tree).
 */
export interface ChildrenSummary {
  /**
   * Number of descendants by counter, for events that have descendants. `rowNumber` is the position
   * among all events.
   */
  children_summary: Record<number, { rowNumber: number; numChildren: number }>;
  /**
   * Messages have no parent: for each counter of a message, the uuid of the event after which it is
   * displayed.
   */
  meta_event_nested_uuid: Record<number, string>;
  event_processing_finished: boolean;
  /** True if every other event has a parent among the events. */
  is_tree: boolean;
}

const MESSAGES = ['debug', 'verbose', 'warning', 'error', 'system_warning', 'deprecated'];

export const UNFINISHED: ChildrenSummary = {
  children_summary: {},
  meta_event_nested_uuid: {},
  event_processing_finished: false,
  is_tree: true,
};

/**
 * Counts the descendants of every event.
 *
 * @param events events in order of their counters
 */
export function summarizeTree(events: readonly TreeEvent[]): ChildrenSummary {
  const counters = new Map(events.map(({ uuid, counter }) => [uuid, counter]));
  const parents = new Map(events.map(({ uuid, parent_uuid: parent }) => [uuid, parent]));
  const rows = new Map(events.map(({ counter }, rowNumber) => [counter, rowNumber]));
  const nested: Record<number, string> = {};
  const counts = new Map<number, number>();
  let isTree = true;
  let previous: TreeEvent | undefined;
  for (const event of events) {
    const isMessage = MESSAGES.includes(event.event);
    if (isMessage && previous) {
      nested[event.counter] = previous.uuid;
      parents.set(event.uuid, previous.uuid);
    }
    if (!isMessage) {
      previous = event;
      if (event.event !== 'playbook_on_start' && !counters.has(event.parent_uuid)) isTree = false;
    }
    const seen = new Set([event.uuid]);
    for (
      let parent = parents.get(event.uuid) ?? '';
      counters.has(parent) && !seen.has(parent);
      parent = parents.get(parent) ?? ''
    ) {
      seen.add(parent);
      const counter = entryOf(counters, parent);
      counts.set(counter, (counts.get(counter) ?? 0) + 1);
    }
  }
  const summary = [...counts].map(
    ([counter, numChildren]) =>
      [counter, { rowNumber: entryOf(rows, counter), numChildren }] as const,
  );
  return {
    children_summary: Object.fromEntries(summary),
    meta_event_nested_uuid: nested,
    event_processing_finished: true,
    is_tree: isTree,
  };
}

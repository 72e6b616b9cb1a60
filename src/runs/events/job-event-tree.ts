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
  /**
   * True if every event except messages and the start of the playbook has a parent among the events, and there
   * are not too many events.
   */
  is_tree: boolean;
}

const MESSAGES = ['debug', 'verbose', 'warning', 'error', 'system_warning', 'deprecated'];

export const UNFINISHED: ChildrenSummary = {
  children_summary: {},
  meta_event_nested_uuid: {},
  event_processing_finished: false,
  is_tree: true,
};

/** Summary of a job with more events than a tree can have: clients show the events as a list. */
export const NO_TREE: ChildrenSummary = {
  ...UNFINISHED,
  event_processing_finished: true,
  is_tree: false,
};

/**
 * Counts the descendants of every event, in linear time, because a run can write any `parent_uuid`. A
 * parent that does not precede its child is ignored, so there are no cycles.
 *
 * @param events events in order of their counters
 */
export function summarizeTree(events: readonly TreeEvent[]): ChildrenSummary {
  const rows = new Map(events.map(({ uuid }, rowNumber) => [uuid, rowNumber]));
  const nested: Record<number, string> = {};
  /** For each event, the row number of its parent; its own row number without a parent. */
  const parents = new Uint32Array(events.length);
  let isTree = true;
  let previous: TreeEvent | undefined;
  for (const [row, event] of events.entries()) {
    const isMessage = MESSAGES.includes(event.event);
    if (isMessage && previous) nested[event.counter] = previous.uuid;
    if (!isMessage) {
      previous = event;
      if (event.event !== 'playbook_on_start' && !rows.has(event.parent_uuid)) isTree = false;
    }
    const parent = isMessage && previous ? previous.uuid : event.parent_uuid;
    parents[row] = Math.min(rows.get(parent) ?? row, row);
  }
  const counts = new Uint32Array(events.length);
  for (let row = events.length - 1; row >= 0; row -= 1) {
    const parent = parents[row] ?? row;
    if (parent < row) counts[parent] = (counts[parent] ?? 0) + (counts[row] ?? 0) + 1;
  }
  const summary: ChildrenSummary['children_summary'] = {};
  for (const [rowNumber, { counter }] of events.entries()) {
    const numChildren = counts[rowNumber] ?? 0;
    if (numChildren > 0) summary[counter] = { rowNumber, numChildren };
  }
  return {
    children_summary: summary,
    meta_event_nested_uuid: nested,
    event_processing_finished: true,
    is_tree: isTree,
  };
}

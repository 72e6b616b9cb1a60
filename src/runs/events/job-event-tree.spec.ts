import { summarizeTree, type TreeEvent } from './job-event-tree.js';

const event = (counter: number, name: string, parent: number): TreeEvent => ({
  counter,
  uuid: `u${counter}`,
  parent_uuid: parent === 0 ? '' : `u${parent}`,
  event: name,
});

it('the summary counts all descendants and attaches messages to the event before them', () => {
  const summary = summarizeTree([
    event(1, 'playbook_on_start', 0),
    event(2, 'playbook_on_play_start', 1),
    event(3, 'playbook_on_task_start', 2),
    event(4, 'runner_on_ok', 3),
    event(5, 'warning', 0),
  ]);
  expect(summary).toEqual({
    children_summary: {
      1: { rowNumber: 0, numChildren: 4 },
      2: { rowNumber: 1, numChildren: 3 },
      3: { rowNumber: 2, numChildren: 2 },
      4: { rowNumber: 3, numChildren: 1 },
    },
    meta_event_nested_uuid: { 5: 'u4' },
    event_processing_finished: true,
    is_tree: true,
  });
});

it('the summary reports a missing parent, and accepts events that are their own ancestors', () => {
  expect(summarizeTree([event(2, 'runner_on_ok', 9)]).is_tree).toBe(false);
  expect(summarizeTree([event(1, 'runner_on_ok', 1)]).children_summary).toEqual({});
  const circle = [event(1, 'runner_on_ok', 2), event(2, 'runner_on_ok', 1)];
  expect(summarizeTree(circle)).toMatchObject({
    children_summary: { 1: { rowNumber: 0, numChildren: 1 } },
    is_tree: true,
  });
});

it('the summary counts the descendants of a long chain', () => {
  const count = 200_000;
  const chain = Array.from({ length: count }, (_, id) => event(id + 1, 'runner_on_ok', id));
  const { children_summary: children } = summarizeTree(chain);
  expect(children[1]).toEqual({ rowNumber: 0, numChildren: count - 1 });
  expect(children[count - 1]).toEqual({ rowNumber: count - 2, numChildren: 1 });
});

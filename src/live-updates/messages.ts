import type { LiveRun } from '../runs/runs.repository.js';

const REFERENCES = [
  'unified_job_template_id',
  'job_template_id',
  'project_id',
  'inventory_source_id',
  'inventory_id',
  'schedule_id',
  'instance_group_name',
] as const;

/** Returns the status of a run as a message of the group `jobs`. Members that are null are omitted. */
export const statusMessage = (run: LiveRun): object => ({
  group_name: 'jobs',
  ...stateOf(run),
  ...Object.fromEntries(REFERENCES.flatMap((key) => (run[key] === null ? [] : [[key, run[key]]]))),
});

/** Returns the status of the run of a workflow node, without members that the node itself does not show. */
export const workflowMessage = (run: LiveRun): object => ({
  group_name: 'workflow_events',
  ...stateOf(run),
});

/** Returns the message that a run has ended and all of its events are stored. */
export const summaryMessage = ({ id, status, emitted_events }: LiveRun): object => ({
  group_name: 'jobs',
  unified_job_id: id,
  summary: true,
  status,
  final_counter: emitted_events,
});

function stateOf(run: LiveRun): object {
  const { id, type, status, started, finished, workflow_job_id, workflow_node_id } = run;
  return {
    unified_job_id: id,
    type,
    status,
    ...(started === null ? {} : { started }),
    ...(finished === null ? {} : { finished }),
    ...(workflow_job_id === null ? {} : { workflow_job_id, workflow_node_id }),
  };
}

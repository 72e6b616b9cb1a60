/** Properties of one kind of event in the API (docs/contract/runs.md#event-names). */
export interface EventKind {
  /** Depth in the run: 0 playbook and other output, 1 play, 2 task, 3 host. */
  readonly level: 0 | 1 | 2 | 3;
  readonly display: string;
  /** True if the kind means failure, unless the task ignores errors. */
  readonly failed: boolean;
}

function kind(level: EventKind['level'], display: string, failed = false): EventKind {
  return { level, display, failed };
}

/** Kinds of the known events, by event name. */
export const EVENT_KINDS: ReadonlyMap<string, EventKind> = new Map([
  ['playbook_on_start', kind(0, 'Playbook Started')],
  ['debug', kind(0, 'Debug')],
  ['verbose', kind(0, 'Verbose')],
  ['deprecated', kind(0, 'Deprecated')],
  ['warning', kind(0, 'Warning')],
  ['system_warning', kind(0, 'System Warning')],
  ['error', kind(0, 'Error', true)],
  ['playbook_on_play_start', kind(1, 'Play Started')],
  ['playbook_on_vars_prompt', kind(1, 'Variables Prompted')],
  ['playbook_on_stats', kind(1, 'Playbook Complete')],
  ['playbook_on_task_start', kind(2, 'Task Started')],
  ['playbook_on_setup', kind(2, 'Gathering Facts')],
  ['playbook_on_include', kind(2, 'Including File')],
  ['playbook_on_notify', kind(2, 'Running Handlers')],
  ['playbook_on_no_hosts_matched', kind(2, 'No Hosts Matched')],
  ['playbook_on_no_hosts_remaining', kind(2, 'No Hosts Remaining')],
  ['playbook_on_import_for_host', kind(2, 'internal: on Import for Host')],
  ['playbook_on_not_import_for_host', kind(2, 'internal: on Not Import for Host')],
  ['runner_on_start', kind(3, 'Host Started')],
  ['runner_on_ok', kind(3, 'Host OK')],
  ['runner_on_failed', kind(3, 'Host Failed', true)],
  ['runner_on_error', kind(3, 'Host Failure', true)],
  ['runner_on_skipped', kind(3, 'Host Skipped')],
  ['runner_on_unreachable', kind(3, 'Host Unreachable', true)],
  ['runner_on_no_hosts', kind(3, 'No Hosts Remaining')],
  ['runner_on_async_poll', kind(3, 'Host Polling')],
  ['runner_on_async_ok', kind(3, 'Host Async OK')],
  ['runner_on_async_failed', kind(3, 'Host Async Failure', true)],
  ['runner_item_on_ok', kind(3, 'Item OK')],
  ['runner_item_on_failed', kind(3, 'Item Failed', true)],
  ['runner_item_on_skipped', kind(3, 'Item Skipped')],
  ['runner_retry', kind(3, 'Host Retry')],
  ['runner_on_file_diff', kind(3, 'File Difference')],
]);

/**
 * Returns the kind of an event. An unknown name is displayed unchanged, at level 0.
 */
export function eventKind(event: string): EventKind {
  return EVENT_KINDS.get(event) ?? kind(0, event);
}

interface DisplayParts {
  readonly event: string;
  readonly play: string;
  readonly task: string;
  readonly role: string;
  readonly eventData: Readonly<Record<string, unknown>>;
}

/**
 * Returns `event_display`: the kind's name with play, task and role, and special texts for
 * asynchronous tasks.
 */
export function eventDisplay({ event, play, task, role, eventData }: DisplayParts): string {
  const name = eventKind(event).display;
  if (event === 'playbook_on_play_start') return play ? `${name} (${play})` : name;
  if (event === 'playbook_on_task_start' && task) {
    const label = eventData['is_conditional'] ? 'Handler Notified' : name;
    return role ? `${label} (${role} | ${task})` : `${label} (${task})`;
  }
  return asyncDisplay(event, eventData['res']) ?? name;
}

function asyncDisplay(event: string, result: unknown): string | null {
  if (!isRecord(result)) return null;
  if (event === 'runner_on_async_ok' && (result['failed'] || (result['rc'] ?? 0) !== 0)) {
    return 'Host Async Failed';
  }
  const isFailure = event === 'runner_on_failed' || event === 'runner_on_async_failed';
  if (isFailure && result['msg'] === 'timed out') return 'Host Async Timeout';
  if (event !== 'runner_on_ok' && event !== 'runner_on_failed') return null;
  const { invocation } = result;
  const moduleName = isRecord(invocation) ? invocation['module_name'] : undefined;
  if (!moduleName || !result['ansible_job_id']) return null;
  return moduleName === 'async_status' ? 'Host Async Checking' : 'Host Async Started';
}
import { isRecord } from '../../common/records.js';

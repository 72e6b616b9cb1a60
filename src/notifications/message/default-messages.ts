import type { NotificationType } from '../backends/notification-type.js';
import { APPROVAL_EVENTS } from './message-events.js';
import type { ApprovalEvent, MessageEvent, MessageParts, RunEvent } from './message-events.js';
import { tableOf } from '../../common/records.js';

/** Default texts of a channel, in the structure of `messages.<type>` in OPTIONS. */
export type DefaultMessages = Readonly<Record<RunEvent, MessageParts>> & {
  readonly workflow_approval: Readonly<Record<ApprovalEvent, MessageParts>>;
};

const MESSAGE =
  "{{ job_friendly_name }} #{{ job.id }} '{{ job.name }}' {{ job.status }}: {{ url }}";
const EMAIL_BODY =
  '{{ job_friendly_name }} #{{ job.id }} had status {{ job.status }}, ' +
  'view details at {{ url }}\n\n{{ job_metadata }}';
const METADATA_BODY = '{{ job_metadata }}';

const APPROVAL_MESSAGE: Readonly<Record<ApprovalEvent, string>> = {
  running:
    'The approval node "{{ approval_node_name }}" needs review. ' +
    'This node can be viewed at: {{ workflow_url }}',
  approved: 'The approval node "{{ approval_node_name }}" was approved. {{ workflow_url }}',
  timed_out: 'The approval node "{{ approval_node_name }}" has timed out. {{ workflow_url }}',
  denied: 'The approval node "{{ approval_node_name }}" was denied. {{ workflow_url }}',
};

/** Returns the default texts of a channel (docs/contract/notifications.md#messages). */
export function defaultMessagesOf(type: NotificationType): DefaultMessages {
  const parts = runParts(type);
  return {
    started: parts,
    success: parts,
    error: parts,
    workflow_approval: tableOf(APPROVAL_EVENTS, (event) => approvalParts(type, event)),
  };
}

/**
 * Returns the default texts of an event. A webhook sends only the body; its message is the subject of
 * the record.
 */
export function defaultPartsOf(
  type: NotificationType,
  event: MessageEvent,
): { message: string; body: string } {
  const defaults = defaultMessagesOf(type);
  const isApproval = event.event === 'workflow_approval';
  const parts = isApproval ? defaults.workflow_approval[event.approval] : defaults[event.event];
  const message = isApproval ? APPROVAL_MESSAGE[event.approval] : MESSAGE;
  return { message: parts.message ?? message, body: parts.body ?? '' };
}

function runParts(type: NotificationType): MessageParts {
  switch (type) {
    case 'webhook':
      return { body: METADATA_BODY };
    case 'email':
      return { message: MESSAGE, body: EMAIL_BODY };
    case 'incident_a':
    case 'dashboard_a':
      return { message: MESSAGE, body: METADATA_BODY };
    default:
      return { message: MESSAGE, body: null };
  }
}

function approvalParts(type: NotificationType, event: ApprovalEvent): MessageParts {
  const message = APPROVAL_MESSAGE[event];
  switch (type) {
    case 'webhook':
      return { body: JSON.stringify({ body: message }) };
    case 'email':
      return { message, body: `${emailApproval(message)}\n\n{{ job_metadata }}` };
    case 'incident_a':
    case 'dashboard_a':
      return { message, body: message };
    default:
      return { message, body: null };
  }
}

/** Returns a message in the wording of emails: "This approval node" instead of "This node". */
function emailApproval(message: string): string {
  return message.replace('This node can be viewed', 'This approval node can be viewed');
}

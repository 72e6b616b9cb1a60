import { typeName } from '../../common/fields/fault-texts.js';
import { isRecord } from '../../common/records.js';
import { APPROVAL_EVENTS, RUN_EVENTS } from './message-events.js';
import type { ApprovalEvent, MessageParts, Messages } from './message-events.js';

/** One template text of a `messages` object, with its position. */
export interface MessageText {
  /** Event of a run, such as `started`, or `workflow_approval` for every approval event. */
  readonly event: string;
  readonly part: 'message' | 'body';
  readonly text: string;
}

/** Value for a template that is created without messages: every event uses its default texts. */
export const NO_MESSAGES: Messages = {
  started: null,
  success: null,
  error: null,
  workflow_approval: null,
};

/**
 * Returns the errors in the structure of a `messages` value as contract texts
 * (docs/contract/notifications.md#messages), and the template texts in it. `checkMessages` checks
 * the texts themselves.
 */
export function inspectMessages(value: unknown): { errors: string[]; texts: MessageText[] } {
  const errors: string[] = [];
  const texts: MessageText[] = [];
  if (value === null) return { errors, texts };
  if (!isRecord(value)) {
    errors.push(`Expected dict for 'messages' field, found ${classOf(value)}`);
    return { errors, texts };
  }
  for (const [event, parts] of Object.entries(value)) {
    if (event !== 'workflow_approval' && !RUN_EVENTS.some((known) => known === event)) {
      errors.push(
        `Event '${event}' invalid, must be one of 'started', 'success', 'error', or 'workflow_approval'`,
      );
    } else if (parts === null) {
      continue;
    } else if (!isRecord(parts)) {
      errors.push(`Expected dict for event '${event}', found ${classOf(parts)}`);
    } else if (event === 'workflow_approval') {
      inspectApprovals(parts, errors, texts);
    } else {
      inspectParts(event, parts, errors, texts);
    }
  }
  return { errors, texts };
}

/**
 * Returns the messages to store after a request. An absent event or part keeps its stored text. Null removes an
 * event, a part or all messages. A part that is null or empty means the default text. Both values must have
 * passed `inspectMessages`.
 *
 * @param stored stored messages; null for a POST or PUT, after which absent events are null
 */
export function mergeMessages(stored: Messages | null, patch: Messages | null): Messages | null {
  if (patch === null) return null;
  const merged: { -readonly [Event in keyof Messages]: Messages[Event] } = {
    ...NO_MESSAGES,
    ...stored,
  };
  for (const event of RUN_EVENTS) {
    if (Object.hasOwn(patch, event)) merged[event] = mergeParts(merged[event], patch[event]);
  }
  if (Object.hasOwn(patch, 'workflow_approval')) {
    merged.workflow_approval = mergeApprovals(merged.workflow_approval, patch.workflow_approval);
  }
  return merged;
}

function mergeApprovals(
  stored: Messages['workflow_approval'],
  patch: Messages['workflow_approval'],
): Exclude<Messages['workflow_approval'], undefined> {
  if (!patch) return null;
  const merged: Partial<Record<ApprovalEvent, MessageParts | null>> = { ...stored };
  for (const event of APPROVAL_EVENTS) {
    if (Object.hasOwn(patch, event)) merged[event] = mergeParts(stored?.[event], patch[event]);
  }
  return merged;
}

function mergeParts(
  stored: MessageParts | null | undefined,
  patch: MessageParts | null | undefined,
): MessageParts | null {
  return patch ? { ...stored, ...patch } : null;
}

function inspectApprovals(approvals: object, errors: string[], texts: MessageText[]): void {
  for (const [event, parts] of Object.entries(approvals)) {
    if (!APPROVAL_EVENTS.some((known) => known === event)) {
      errors.push(
        `Workflow Approval event '${event}' invalid, must be one of 'running', 'approved', 'timed_out', or 'denied'`,
      );
    } else if (parts === null) {
      continue;
    } else if (!isRecord(parts)) {
      errors.push(`Expected dict for workflow approval event '${event}', found ${classOf(parts)}`);
    } else {
      inspectParts('workflow_approval', parts, errors, texts);
    }
  }
}

function inspectParts(event: string, parts: object, errors: string[], texts: MessageText[]): void {
  for (const [part, text] of Object.entries(parts)) {
    if (part !== 'message' && part !== 'body') {
      errors.push(`Message type '${part}' invalid, must be either 'message' or 'body'`);
    } else if (text === null) {
      continue;
    } else if (typeof text !== 'string') {
      errors.push(`Expected string for '${part}', found ${classOf(text)}, `);
    } else if (part === 'message' && /[\r\n]/.test(text)) {
      errors.push(`Messages cannot contain newlines (found newline in ${event} event)`);
    } else {
      texts.push({ event, part, text });
    }
  }
}

/** Returns the class of a value as Python shows it, such as `<class 'str'>`, for contract texts. */
const classOf = (value: unknown): string => `<class '${typeName(value)}'>`;

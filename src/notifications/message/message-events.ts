/** Events for which notification templates can be attached to any template. */
export const RUN_EVENTS = ['started', 'success', 'error'] as const;

/** States of an approval node that have their own text. */
export const APPROVAL_EVENTS = ['running', 'approved', 'timed_out', 'denied'] as const;

export type RunEvent = (typeof RUN_EVENTS)[number];
export type ApprovalEvent = (typeof APPROVAL_EVENTS)[number];

/** An event, which selects the message texts. */
export type MessageEvent =
  | { readonly event: RunEvent }
  | { readonly event: 'workflow_approval'; readonly approval: ApprovalEvent };

/** Events by their name in records and in template tests. */
const EVENTS: ReadonlyMap<string, MessageEvent> = new Map<string, MessageEvent>([
  ...RUN_EVENTS.map((event) => [event, { event }] as const),
  ...APPROVAL_EVENTS.map(
    (approval) => [approvalEvent(approval), { event: 'workflow_approval', approval }] as const,
  ),
]);

/** Status of an approval in messages, by event. */
export const APPROVAL_STATUS: Readonly<Record<ApprovalEvent, string>> = {
  running: 'pending',
  approved: 'approved',
  denied: 'denied',
  timed_out: 'timed_out',
};

export const EVENT_NAMES: readonly string[] = [...EVENTS.keys()];

/** Event of test records, independent of the event whose message the test sends. */
export const TEST_EVENT = 'test';

/** Returns the event with a name; null for an unknown name. */
export const eventOf = (name: unknown): MessageEvent | null =>
  (typeof name === 'string' ? EVENTS.get(name) : undefined) ?? null;

export function approvalEvent(approval: ApprovalEvent): string {
  return `workflow_approval.${approval}`;
}

/** Texts of one event; null or "" means the default. */
export interface MessageParts {
  readonly message?: string | null;
  readonly body?: string | null;
}

/** The `messages` object of a notification template. */
export type Messages = {
  readonly [event in RunEvent]?: MessageParts | null;
} & {
  readonly workflow_approval?: { readonly [event in ApprovalEvent]?: MessageParts | null } | null;
};

/** Returns a template's texts for an event; null if there are none. */
export function partsFor(messages: Messages | null, event: MessageEvent): MessageParts | null {
  if (event.event !== 'workflow_approval') return messages?.[event.event] ?? null;
  return messages?.workflow_approval?.[event.approval] ?? null;
}

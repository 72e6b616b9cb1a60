/** Events that a template of any kind can be attached to. */
export const RUN_EVENTS = ['started', 'success', 'error'] as const;

/** States of an approval node that have a text of their own. */
export const APPROVAL_EVENTS = ['running', 'approved', 'timed_out', 'denied'] as const;

export type RunEvent = (typeof RUN_EVENTS)[number];
export type ApprovalEvent = (typeof APPROVAL_EVENTS)[number];

/** What happened; selects the message texts. */
export type MessageEvent =
  | { readonly event: RunEvent }
  | { readonly event: 'workflow_approval'; readonly approval: ApprovalEvent };

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

/** The texts a template has for an event, or null. */
export function partsFor(messages: Messages | null, event: MessageEvent): MessageParts | null {
  if (event.event !== 'workflow_approval') return messages?.[event.event] ?? null;
  return messages?.workflow_approval?.[event.approval] ?? null;
}

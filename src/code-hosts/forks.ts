import { valueAt } from './payload.js';
import { eventRule } from './services.js';
import type { WebhookEvent } from './event.js';

/** Choices for events of changes from another repository. */
export const FORK_RULES = [
  ['always', 'Launch like any other'],
  ['approval', 'Launch after an approval'],
  ['never', 'Do not launch'],
] as const;
export type ForkRule = (typeof FORK_RULES)[number][0];

/** Returns the fork rule in a template's row. Types of templates without the rule always launch. */
export const forkRuleOf = ({
  webhook_forks: stored,
}: Readonly<Record<string, unknown>>): ForkRule =>
  FORK_RULES.map(([rule]) => rule).find((rule) => rule === stored) ?? 'always';

/**
 * Returns true if an event concerns a change from another repository than its target. A change without a
 * source repository counts as a change from a fork, because the fork may already be deleted.
 */
export function isFromFork({
  service,
  type,
  payload,
}: Pick<WebhookEvent, 'service' | 'type' | 'payload'>): boolean {
  const repositories = eventRule(service, type)?.repositories;
  if (!repositories) return false;
  const head = valueAt(payload, repositories.head) ?? null;
  return head === null || head !== valueAt(payload, repositories.base);
}

/** Returns the reason, as a sentence, why the template's fork rule prevents a launch, or null. */
export const forkMismatch = (
  rule: ForkRule,
  event: Pick<WebhookEvent, 'service' | 'type' | 'payload'>,
): string | null => (rule === 'never' && isFromFork(event) ? 'The event comes from a fork.' : null);

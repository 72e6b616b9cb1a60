import { valueAt } from './payload.js';
import { eventRule } from './services.js';
import type { WebhookEvent } from './event.js';

/** What a template does with events of changes that come from another repository. */
export const FORK_RULES = [
  ['always', 'Launch like any other'],
  ['approval', 'Launch when somebody approves'],
  ['never', 'Do not launch'],
] as const;
export type ForkRule = (typeof FORK_RULES)[number][0];

/** The rule of a template's row; kinds of templates without one launch always. */
export const forkRuleOf = ({
  webhook_forks: stored,
}: Readonly<Record<string, unknown>>): ForkRule =>
  FORK_RULES.map(([rule]) => rule).find((rule) => rule === stored) ?? 'always';

/**
 * Whether an event is about a change that comes from another repository than the one it is meant for.
 * A change that does not say where it comes from counts as one: the fork may be deleted already.
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

/** Why an event launches nothing by the template's rule for forks, in a sentence; null when it may. */
export const forkObjection = (
  rule: ForkRule,
  event: Pick<WebhookEvent, 'service' | 'type' | 'payload'>,
): string | null => (rule === 'never' && isFromFork(event) ? 'The event comes from a fork.' : null);

import { existing } from '../common/invariants.js';
import { eventRule, webhookService, type WebhookServiceName } from '../code-hosts/services.js';

/** A kind of template that receives webhooks, and what they do to it. */
export interface ReceiverKind {
  /** Resource type of the template. */
  type: string;
  /** Resource type of what it launches. */
  runs: string;
  /** Events that launch it: all of the contract's table, or those that bring commits. */
  launchedBy: 'events' | 'pushes';
  /** Answer to a delivery that launched. */
  queued: string;
}

const KINDS = [
  { type: 'job_template', runs: 'job', launchedBy: 'events', queued: 'Job queued.' },
  {
    type: 'workflow_job_template',
    runs: 'workflow_job',
    launchedBy: 'events',
    queued: 'Job queued.',
  },
  {
    type: 'project',
    runs: 'project_update',
    launchedBy: 'pushes',
    queued: 'Project update queued.',
  },
] as const satisfies readonly ReceiverKind[];

/** Kinds of templates with receivers; `RunLauncher` knows how each is launched. */
export type ReceiverType = (typeof KINDS)[number]['type'];

/** Every kind of template with receivers; a further one is a further entry. */
export const RECEIVER_KINDS: readonly (ReceiverKind & { type: ReceiverType })[] = KINDS;

/** Returns the kind of a type of template. */
export const receiverKind = (type: ReceiverType): (typeof RECEIVER_KINDS)[number] =>
  existing(
    RECEIVER_KINDS.find((kind) => kind.type === type),
    `${type} is in the table of kinds`,
  );

/**
 * Why an event launches nothing of a kind of template, whatever its filters say, in a sentence;
 * null when it may.
 */
export function eventObjection(
  { launchedBy }: Pick<ReceiverKind, 'launchedBy'>,
  { service, type }: { service: WebhookServiceName; type: string },
): string | null {
  if (webhookService(service).pingEvents.includes(type)) return 'The event is a connection test.';
  const rule = eventRule(service, type);
  if (!rule) return 'Events of this type launch nothing.';
  return launchedBy === 'pushes' && rule.isPush !== true ? 'Only pushes sync a project.' : null;
}

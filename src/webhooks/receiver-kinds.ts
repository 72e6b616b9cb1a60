import { existing } from '../common/invariants.js';
import { eventRule, webhookService, type WebhookServiceName } from '../code-hosts/services.js';

/** A kind of template that receives webhooks. */
export interface ReceiverKind {
  /** Resource type of the template. */
  type: string;
  /** Resource type of its runs. */
  runType: string;
  /** Events that launch the template: all supported events, or only pushes. */
  launchedBy: 'events' | 'pushes';
  /** Message of the response to a delivery that launched a run. */
  queuedMessage: string;
}

const KINDS = [
  { type: 'job_template', runType: 'job', launchedBy: 'events', queuedMessage: 'Job queued.' },
  {
    type: 'workflow_job_template',
    runType: 'workflow_job',
    launchedBy: 'events',
    queuedMessage: 'Job queued.',
  },
  {
    type: 'project',
    runType: 'project_update',
    launchedBy: 'pushes',
    queuedMessage: 'Project update queued.',
  },
] as const satisfies readonly ReceiverKind[];

/** Types of templates with receivers. */
export type ReceiverType = (typeof KINDS)[number]['type'];

/** All kinds of templates with receivers. */
export const RECEIVER_KINDS: readonly (ReceiverKind & { type: ReceiverType })[] = KINDS;

/** Returns the receiver kind of a type of template. */
export const receiverKind = (type: string): (typeof RECEIVER_KINDS)[number] =>
  existing(
    RECEIVER_KINDS.find((kind) => kind.type === type),
    `${type} is in the table of kinds`,
  );

/**
 * Returns the reason why an event never launches this kind of template, independent of its filters;
 * null if the event can launch it.
 */
export function eventMismatch(
  { launchedBy }: Pick<ReceiverKind, 'launchedBy'>,
  { service, type }: { service: WebhookServiceName; type: string },
): string | null {
  if (webhookService(service).pingEvents.includes(type)) return 'The event is a connection test.';
  const rule = eventRule(service, type);
  if (!rule) return 'Events of this type launch nothing.';
  return launchedBy === 'pushes' && rule.isPush !== true ? 'Only pushes sync a project.' : null;
}

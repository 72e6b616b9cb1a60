import { manyToMany, type Relation } from '../common/resource/define-resource.js';

export type NotificationEvent = 'started' | 'success' | 'error' | 'approvals';

/** Returns the `notification_templates_<event>` relations of a template. */
export const templateNotifications = (
  ...events: readonly NotificationEvent[]
): Record<string, Relation> =>
  Object.fromEntries(
    events.map((event) => [
      `notification_templates_${event}`,
      manyToMany('notification_template', {
        table: 'template_notifications',
        sourceColumn: 'unified_job_template_id',
        fixed: { event },
      }),
    ]),
  );

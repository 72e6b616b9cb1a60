import type { Sql } from '../database/sql.js';

/**
 * Notification templates attached to organizations; implemented by the organizations module, a
 * higher layer.
 */
export abstract class OrganizationNotifications {
  /** Returns a query for `organization_id`, `event` and `notification_template_id`. */
  abstract notificationLinks(): Sql;
}

import type { Sql } from '../database/sql.js';

/** Where notification templates are attached to organizations, a room above, which implements it. */
export abstract class OrganizationNotifications {
  /** Query for `organization_id`, `event` and `notification_template_id`. */
  abstract notificationLinks(): Sql;
}

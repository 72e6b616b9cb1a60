import { hasRoleOn, holdsAny, through } from '../access/predicates.js';
import { anyOf, everyone } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { notificationTemplateExtension } from './notification-template-extension.js';
import { NotificationTemplateHooks } from './notification-template.hooks.js';
import { NotificationSchema, NotificationTemplateSchema } from './notification-template.schema.js';

const ofOrganization = hasRoleOn('organization_id', 'organization', 'notification_admin_role');

export const notificationTemplates = defineResource({
  path: 'notification_templates',
  type: 'notification_template',
  schema: NotificationTemplateSchema,
  table: 'notification_templates',
  hooks: NotificationTemplateHooks,
  naturalKey: ['name', 'organization'],
  auditHidden: ['notification_configuration'],
  unique: [
    {
      name: 'notification_templates_organization_name_key',
      columns: ['organization_id', 'name'],
      field: '__all__',
      message: 'Notification template with this Organization and Name already exists.',
    },
  ],
  capabilities: { edit: 'change', delete: 'delete', copy: 'change' },
  policy: {
    read: anyOf(ofOrganization, hasRoleOn('organization_id', 'organization', 'auditor_role')),
    add: () => everyone,
    mayAdd: (actor) => holdsAny('organization', ['notification_admin_role'], actor),
    change: ofOrganization,
    delete: ofOrganization,
  },
  relations: {
    notifications: {
      kind: 'has-many',
      target: () => notifications,
      field: 'notification_template',
    },
  },
  extend: notificationTemplateExtension,
});

export const notifications = defineResource({
  path: 'notifications',
  type: 'notification',
  schema: NotificationSchema,
  table: 'notifications',
  orderBy: ['id'],
  capabilities: {},
  summary: ['id', 'status', 'notification_type'],
  indexes: [{ name: 'notifications_status_idx', columns: ['status', 'id'] }],
  policy: {
    read: through(
      'notification_template_id',
      'notification_templates',
      notificationTemplates.policy.read,
    ),
  },
});

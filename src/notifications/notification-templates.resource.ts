import { hasRoleOn, holdsAny, refersTo } from '../access/predicates.js';
import { anyOf, everyone } from '../common/access.js';
import { totalsBy } from '../common/resource/stored-totals.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import {
  NotificationTemplateExtension,
  NOTIFICATION_TEMPLATE_SHOWS,
} from './notification-template.extension.js';
import { NotificationTemplateHooks } from './notification-template.hooks.js';
import { NotificationTemplate } from './notification-template.entity.js';
import { NotificationAttempt, Notification, NotificationTotal } from './notification.entity.js';

const ofOrganization = hasRoleOn('organization_id', 'organization', 'notification_admin_role');

/** Events of attached templates, with the names by which clients filter. */
const ATTACHMENT_EVENTS = [
  ['started', 'started'],
  ['success', 'success'],
  ['error', 'errors'],
  ['approvals', 'approvals'],
] as const;

/** Predicate for records: the caller administers the record's template. */
const ofTemplate = refersTo('notification_template_id', 'notification_template', ofOrganization);

export const notificationTemplates = defineResource({
  path: 'notification_templates',
  type: 'notification_template',
  entity: NotificationTemplate,
  pages: {
    list: {
      about:
        'Chats, addresses and systems that get notifications. Each template selects its events.',
    },
  },
  hooks: NotificationTemplateHooks,
  naturalKey: ['name', 'organization'],
  auditHidden: ['notification_configuration'],
  unique: {
    notification_templates_organization_name_key:
      'Notification template with this Organization and Name already exists.',
  },
  capabilities: { edit: 'change', delete: 'delete', copy: 'copy' },
  aliases: Object.fromEntries(
    ['organization', 'unified_job_template', 'workflow_job_template'].flatMap((type) =>
      ATTACHMENT_EVENTS.map(([event, alias]) => [
        `${type.replaceAll('_', '')}_notification_templates_for_${alias}`,
        `${type}_notification_templates_${event}`,
      ]),
    ),
  ),
  policy: {
    read: anyOf(ofOrganization, hasRoleOn('organization_id', 'organization', 'auditor_role')),
    add: () => everyone,
    mayAdd: (actor) => holdsAny('organization', ['notification_admin_role'], actor),
    change: ofOrganization,
    delete: ofOrganization,
    actions: { copy: ofOrganization },
  },
  relations: {
    notifications: hasMany('notification', 'notification_template'),
  },
  extension: NotificationTemplateExtension,
  shows: NOTIFICATION_TEMPLATE_SHOWS,
});

export const notifications = defineResource({
  path: 'notifications',
  type: 'notification',
  entity: Notification,
  orderBy: ['id'],
  capabilities: {},
  aliases: { unifiedjob_notifications: 'unified_job' },
  counter: totalsBy(NotificationTotal),
  pages: {
    linkedOrder: '-id',
    list: {
      about: 'Sent notifications and their results.',
    },
    emptyLink: { text: 'Add a notification to a template', list: 'unified_job_templates' },
    within: 'notification_template',
  },
  summary: ['id', 'status', 'notification_type'],
  policy: {
    read: refersTo(
      'notification_template_id',
      'notification_template',
      notificationTemplates.policy.read,
    ),
    actions: {
      resend: ofTemplate,
    },
  },
  relations: {
    attempts: hasMany('notification_attempt', 'notification'),
  },
});

export const notificationAttempts = defineResource({
  path: 'notification_attempts',
  type: 'notification_attempt',
  entity: NotificationAttempt,
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'number', 'successful'],
  unique: { notification_attempts_key: 'The attempt is already recorded.' },
  // The response of a destination can contain anything, so only users who can change the
  // destination can read it.
  policy: { read: refersTo('notification_id', 'notification', ofTemplate) },
});

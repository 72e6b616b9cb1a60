import type { NotificationBackend } from './backend.js';
import { chatABackend } from './chat-a.backend.js';
import { chatBBackend, chatCBackend } from './chat-hooks.backend.js';
import { dashboardABackend } from './dashboard-a.backend.js';
import { emailBackend } from './email.backend.js';
import { incidentABackend } from './incident-a.backend.js';
import { ircBackend } from './irc.backend.js';
import type { NotificationType } from './notification-type.js';
import { smsABackend } from './sms-a.backend.js';
import { webhookBackend } from './webhook.backend.js';

const BACKENDS: Readonly<Record<NotificationType, NotificationBackend>> = {
  email: emailBackend,
  chat_a: chatABackend,
  sms_a: smsABackend,
  incident_a: incidentABackend,
  webhook: webhookBackend,
  chat_b: chatBBackend,
  chat_c: chatCBackend,
  irc: ircBackend,
  dashboard_a: dashboardABackend,
};

export function backendFor(type: NotificationType): NotificationBackend {
  return BACKENDS[type];
}

import type { NotificationBackend } from './backend.js';
import { sendToHook } from './chat-hook.js';
import { configuredTextOf } from './configuration-values.js';
import { truncate } from './limits.js';

/** Default message limit of the service, in UTF-16 units. */
const MAX_TEXT = 5_000;

/** Backend that sends messages to the incoming webhook of a chat server. */
export const chatCBackend: NotificationBackend = {
  type: 'chat_c',
  label: 'Rocket.Chat',
  recipientKey: 'url',
  fields: {
    url: { type: 'string', label: 'Target URL', url: true },
    no_verify_ssl: { type: 'bool', label: 'Disable SSL Verification', default: false },
    username: { type: 'string', label: 'Username', optional: true },
    icon_url: { type: 'string', label: 'Icon URL', optional: true },
  },
  send: (config, message, context) =>
    sendToHook(config, context, 'Error sending notification chat_c', {
      text: truncate(message.subject, MAX_TEXT),
      username: configuredTextOf(config, 'username'),
      icon_url: configuredTextOf(config, 'icon_url'),
    }),
};

import type { NotificationBackend } from './backend.js';
import { sendToHook } from './chat-hook.js';
import { configuredTextOf } from './configuration-values.js';
import { truncate } from './limits.js';

const MAX_TEXT = 16_383;

/** Backend that sends messages to the incoming webhook of a chat server. */
export const chatBBackend: NotificationBackend = {
  type: 'chat_b',
  label: 'Mattermost',
  recipientKey: 'url',
  fields: {
    url: { type: 'string', label: 'Target URL', url: true },
    no_verify_ssl: { type: 'bool', label: 'Disable SSL Verification', default: false },
    username: { type: 'string', label: 'Username', optional: true },
    channel: { type: 'string', label: 'Channel', optional: true },
    icon_url: { type: 'string', label: 'Icon URL', optional: true },
  },
  send: (config, message, context) =>
    sendToHook(config, context, 'Error sending notification chat_b', {
      text: truncate(message.subject, MAX_TEXT),
      username: configuredTextOf(config, 'username'),
      channel: configuredTextOf(config, 'channel'),
      icon_url: configuredTextOf(config, 'icon_url'),
    }),
};

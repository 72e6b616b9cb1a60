import { textMember } from '../../common/records.js';
import { secretsInUrl } from '../../outbound/mask.js';
import type { ConfigurationField, NotificationBackend } from './backend.js';
import { flagOf } from './configuration-values.js';
import { deliverOnce } from './http-delivery.js';
import { truncateText } from '../../common/fields/text.js';

const USERNAME: ConfigurationField = { type: 'string', label: 'Username', optional: true };
const CHANNEL: ConfigurationField = { type: 'string', label: 'Channel', optional: true };
const ICON: ConfigurationField = { type: 'string', label: 'Icon URL', optional: true };

/**
 * Returns a backend that sends messages to the incoming webhook of a chat server.
 *
 * @param optional fields that the payload contains under the same names, unless they are empty
 * @param maxText maximum length of a message in UTF-16 units
 */
const chatHook = (
  names: Pick<NotificationBackend, 'type' | 'label'>,
  optional: Readonly<Record<string, ConfigurationField>>,
  maxText: number,
): NotificationBackend => ({
  ...names,
  recipientKey: 'url',
  fields: {
    url: { type: 'string', label: 'Target URL', url: true },
    no_verify_ssl: { type: 'bool', label: 'Disable SSL Verification', default: false },
    ...optional,
  },
  send: (config, message, context) => {
    const url = textMember(config, 'url');
    const payload = [
      ['text', truncateText(message.subject, maxText)] as const,
      ...Object.keys(optional).map((key) => [key, textMember(config, key)] as const),
    ];
    const filled = payload.filter(([, value]) => value !== '');
    return deliverOnce(context, {
      failure: `Error sending notification ${names.type}`,
      secrets: secretsInUrl(url),
      request: {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(Object.fromEntries(filled)),
        verifyTls: !flagOf(config, 'no_verify_ssl'),
        redirects: 'same-host',
      },
    });
  },
});

export const chatBBackend = chatHook(
  { type: 'chat_b', label: 'Mattermost' },
  { username: USERNAME, channel: CHANNEL, icon_url: ICON },
  16_383,
);

export const chatCBackend = chatHook(
  { type: 'chat_c', label: 'Rocket.Chat' },
  { username: USERNAME, icon_url: ICON },
  5_000,
);

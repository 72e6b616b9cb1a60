import { textMember } from '../../common/records.js';
import { basicAuthorization } from '../../outbound/outbound-client.js';
import { type NotificationBackend, joinUrl } from './backend.js';
import { configuredListOf } from './configuration-values.js';
import { sendToEach } from './each-target.js';
import { deliver } from './http-delivery.js';
import { truncateText } from '../../common/fields/text.js';

const MAX_TEXT = 1_600;

/** Backend that sends text messages, one request per number. */
export const smsABackend: NotificationBackend = {
  type: 'sms_a',
  label: 'Twilio',
  recipientKey: 'to_numbers',
  fields: {
    account_sid: { type: 'string', label: 'Account SID' },
    account_token: { type: 'password', label: 'Account Token' },
    from_number: { type: 'string', label: 'Source Phone Number' },
    to_numbers: { type: 'list', label: 'Destination SMS Numbers' },
  },
  send: (config, message, context) => {
    const account = textMember(config, 'account_sid');
    const token = textMember(config, 'account_token');
    const authorization = basicAuthorization(account, token);
    const path = `/2010-04-01/Accounts/${encodeURIComponent(account)}/Messages.json`;
    return sendToEach(configuredListOf(config, 'to_numbers'), context, async (number) => {
      await deliver(context, {
        failure: 'Error sending notification sms_a',
        secrets: [token, authorization],
        request: {
          method: 'POST',
          url: joinUrl(context.urls.smsA, path),
          headers: {
            authorization,
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: new URLSearchParams({
            To: number,
            From: textMember(config, 'from_number'),
            Body: truncateText(message.subject, MAX_TEXT),
          }).toString(),
        },
      });
    });
  },
};

import type { NotificationBackend } from './backend.js';
import { textOf } from './configuration-values.js';
import { deliver, excerptOf } from './http-delivery.js';
import { truncate } from './limits.js';
import { joinUrl } from './service-urls.js';

const MAX_DESCRIPTION = 1_024;
/** The service answers 403 when too many events arrive. */
const RATE_LIMITED = 403;

/** Triggers an incident through the service's generic events interface. */
export const incidentABackend: NotificationBackend = {
  type: 'incident_a',
  label: 'Incident A',
  recipientKey: 'subdomain',
  fields: {
    subdomain: { type: 'string', label: 'Subdomain' },
    token: { type: 'password', label: 'API Token' },
    service_key: { type: 'password', label: 'API Service/Integration Key' },
    client_name: { type: 'string', label: 'Client Identifier' },
  },
  send: async (config, message, context) => {
    const serviceKey = textOf(config, 'service_key');
    const secrets = [serviceKey, textOf(config, 'token')];
    const response = await deliver(context, {
      failure: 'Error sending notification incident_a',
      secrets,
      alsoRetry: [RATE_LIMITED],
      request: {
        method: 'POST',
        url: joinUrl(context.urls.incidentA, '/generic/2010-04-15/create_event.json'),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          service_key: serviceKey,
          event_type: 'trigger',
          description: truncate(message.subject, MAX_DESCRIPTION),
          details: detailsOf(message.text),
          // One incident however often an attempt is repeated (design.md R4).
          incident_key: context.messageId,
          client: textOf(config, 'client_name'),
          client_url: null,
        }),
      },
    });
    return {
      sent: 1,
      detail: excerptOf(response.body, secrets),
      statusCode: response.status,
    };
  },
};

/** A body that is a JSON object is sent as one, any other as text. */
function detailsOf(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : text;
  } catch {
    return text;
  }
}

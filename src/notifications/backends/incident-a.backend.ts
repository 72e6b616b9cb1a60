import { resultOr } from '../../common/errors/errors.js';
import { isRecord, textMember } from '../../common/records.js';
import {
  type Configuration,
  type NotificationBackend,
  type OutgoingMessage,
  type SendContext,
  joinUrl,
} from './backend.js';
import { flagOf } from './configuration-values.js';
import { deliverOnce } from './http-delivery.js';
import { truncateText } from '../../common/fields/text.js';

const MAX_DESCRIPTION = 1_024;
/** Prefix of the incident keys of a template; the service scopes keys to one integration. */
const KEY_PREFIX = 'automation-controller';
/** Status code of the service when too many events arrive. */
const RATE_LIMITED = 403;

/**
 * Backend that triggers incidents through the service's generic events API, and optionally resolves them.
 * With `resolve_on_success`, all failures of one template are one incident, and the next success of the
 * template resolves the incident (docs/decisions/0038-notifications.md).
 */
export const incidentABackend: NotificationBackend = {
  type: 'incident_a',
  label: 'PagerDuty',
  recipientKey: 'subdomain',
  fields: {
    subdomain: { type: 'string', label: 'Subdomain' },
    token: { type: 'password', label: 'API Token' },
    service_key: { type: 'password', label: 'API Service/Integration Key' },
    client_name: { type: 'string', label: 'Client Identifier' },
    resolve_on_success: { type: 'bool', label: 'Resolve On Success', optional: true },
  },
  send: (config, message, context) =>
    deliverOnce(context, {
      failure: 'Error sending notification incident_a',
      secrets: [textMember(config, 'service_key'), textMember(config, 'token')],
      alsoRetry: [RATE_LIMITED],
      request: {
        method: 'POST',
        url: joinUrl(context.urls.incidentA, '/generic/2010-04-15/create_event.json'),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(incidentOf(config, message, context)),
      },
    }),
};

function incidentOf(config: Configuration, message: OutgoingMessage, context: SendContext): object {
  const template = flagOf(config, 'resolve_on_success') ? context.runTemplateId : null;
  const key = template === null ? null : `${KEY_PREFIX}-${template}`;
  const event = {
    service_key: textMember(config, 'service_key'),
    description: truncateText(message.subject, MAX_DESCRIPTION),
    details: jsonOrText(message.text),
  };
  if (key !== null && context.event === 'success') {
    return { ...event, event_type: 'resolve', incident_key: key };
  }
  return {
    ...event,
    event_type: 'trigger',
    // Without a key of the template, the message id ensures one incident for all attempts.
    incident_key: key !== null && context.event === 'error' ? key : context.messageId,
    client: textMember(config, 'client_name'),
    client_url: null,
  };
}

/** Returns a body that is a JSON object as an object, and any other body as text. */
function jsonOrText(text: string): unknown {
  const parsed = resultOr((): unknown => JSON.parse(text), text);
  return isRecord(parsed) ? parsed : text;
}

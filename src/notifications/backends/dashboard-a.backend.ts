import { textMember } from '../../common/records.js';
import { secretsInUrl } from '../../outbound/mask.js';
import {
  type Configuration,
  type NotificationBackend,
  type OutgoingMessage,
  joinUrl,
} from './backend.js';
import { flagOf, intOf, configuredListOf } from './configuration-values.js';
import { deliverOnce } from './http-delivery.js';

/** Digits of a number; empty: not set. */
const NUMBER = /^\d{0,15}$/;
/** Number of a dashboard, or its UID at the service, which has at most 40 characters. */
const DASHBOARD = /^[\w-]{0,40}$/;

/** Backend that creates an annotation on a dashboard. The annotation spans the run if its times are known. */
export const dashboardABackend: NotificationBackend = {
  type: 'dashboard_a',
  label: 'Grafana',
  recipientKey: 'url',
  fields: {
    url: { type: 'string', label: 'Dashboard URL', url: true },
    key: { type: 'password', label: 'API Key' },
    dashboardId: { type: 'int', label: 'Dashboard ID', accepts: 'string', optional: true },
    panelId: { type: 'int', label: 'Panel ID', accepts: 'string', optional: true },
    annotation_tags: { type: 'list', label: 'Annotation Tags', optional: true },
    no_verify_ssl: { type: 'bool', label: 'Disable SSL Verification', default: false, peer: true },
    isRegion: { type: 'bool', label: 'Is Region', default: true },
  },
  check: (config) => [
    ...(DASHBOARD.test(idOf(config, 'dashboardId'))
      ? []
      : ["Configuration field 'dashboardId' must be a number or a UID."]),
    ...(NUMBER.test(idOf(config, 'panelId'))
      ? []
      : ["Configuration field 'panelId' must be a number."]),
  ],
  send: (config, message, context) => {
    const key = textMember(config, 'key');
    return deliverOnce(context, {
      failure: 'Error sending notification dashboard_a',
      secrets: [key, ...secretsInUrl(textMember(config, 'url'))],
      request: {
        method: 'POST',
        url: joinUrl(textMember(config, 'url'), '/api/annotations'),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(annotationOf(config, message)),
        verifyTls: !flagOf(config, 'no_verify_ssl'),
        redirects: 'same-host',
      },
    });
  },
};

/** Returns the text of an id that is stored as a number or a text. */
function idOf(config: Configuration, key: string): string {
  return String(config[key] ?? '').trim();
}

function annotationOf(config: Configuration, message: OutgoingMessage): object {
  const dashboard = idOf(config, 'dashboardId');
  const dashboardKey = NUMBER.test(dashboard) ? 'dashboardId' : 'dashboardUID';
  const panelId = intOf(config, 'panelId');
  const tags = configuredListOf(config, 'annotation_tags');
  const time = milliseconds(message.body.started);
  return {
    text: message.subject,
    isRegion: flagOf(config, 'isRegion', true),
    ...(time === null ? {} : { time, timeEnd: milliseconds(message.body.finished) ?? time }),
    ...(dashboard && { [dashboardKey]: intOf(config, 'dashboardId') ?? dashboard }),
    ...(panelId === null ? {} : { panelId }),
    ...(tags.length === 0 ? {} : { tags }),
  };
}

function milliseconds(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

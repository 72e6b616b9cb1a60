import type { ConfigurationField } from '../notifications/backends/backend.js';
import { encryptedKeys } from '../notifications/backends/configuration.js';
import {
  NOTIFICATION_TYPES,
  type NotificationType,
} from '../notifications/backends/notification-type.js';
import { backendFor } from '../notifications/backends/registry.js';
import { defaultMessagesOf } from '../notifications/message/default-messages.js';
import { writeOrCheck } from './documents.js';

const COMMAND = 'npm run controller -- notification-docs';

const INTRODUCTION = `# Notifications

This page lists the values of \`notification_type\`, and the keys of \`notification_configuration\` for each.
Unknown keys are stored and returned unchanged. Secrets are encrypted at rest and shown as \`$encrypted$\`;
a request with this value keeps the stored secret. A PATCH replaces the whole configuration and merges
\`messages\`. URLs are encrypted at rest too; users who can only read the template see masked URLs, also in
the records.

| To | Send |
|---|---|
| try a template | \`POST /api/v2/notification_templates/<id>/test/\`, with \`{"event": "success"}\` for the message of an event: one immediate attempt, whose record is then \`successful\` or \`failed\` |
| get notified of runs | \`POST /api/v2/<parent>/<id>/notification_templates_<event>/\` \`{"id": <id>}\`: \`started\`, \`success\`, \`error\` of templates of jobs, workflow jobs and system jobs, of projects, inventory sources and organizations; \`approvals\` of workflow job templates and organizations |
| see the attempts | \`GET /api/v2/notifications/<id>/attempts/\`; \`summary_fields.circuit_breaker\` of the template shows whether attempts to its destination are paused |
| resend a notification | \`POST /api/v2/notifications/<id>/resend/\` |
| resend a time range | \`POST /api/v2/notification_templates/<id>/resend/\` \`{"from": "2026-01-31T00:00:00Z"}\`, \`?dry_run=1\` for a preview |

| Status of a record | Meaning |
|---|---|
| \`pending\` | no attempt yet |
| \`failed\` | the last attempt failed, with the reason in \`error\`. \`next_attempt_at\` is the time of the next attempt; null: no further attempt |
| \`successful\` | an attempt succeeded |

Network errors, timeouts, 408, 425, 429 and 5xx are retried, with up to eight attempts in about four hours.
Other refusals and tests are not retried. A record with a planned attempt cannot be resent. A template
with a \`pending\` record cannot be deleted; deleting a template cancels its planned attempts. If a worker
dies during an attempt, also of a test, another worker repeats the attempt with the same id.

This page is generated from \`src/notifications/backends\`: \`${COMMAND}\`.
`;

/** Writes `docs/notifications.md`. With `--check`, fails if the file is outdated. */
export function notificationDocs(argv: readonly string[]): Promise<number> {
  return writeOrCheck('notifications.md', notificationPage(), argv, COMMAND);
}

/** Returns the page of all notification types. */
export function notificationPage(): string {
  return `${INTRODUCTION}\n${NOTIFICATION_TYPES.map(sectionOf).join('\n')}`;
}

function sectionOf(type: NotificationType): string {
  const { fields, label } = backendFor(type);
  const encrypted = new Set(encryptedKeys(type));
  const rows = Object.entries(fields).map(([key, field]) => {
    const cells = [`\`${key}\``, typeOf(field), needOf(field), field.label];
    return `| ${[...cells, encrypted.has(key) ? 'encrypted' : ''].join(' | ')} |`;
  });
  const { message, body } = defaultMessagesOf(type).success;
  return [
    `## ${label} (\`${type}\`)`,
    '',
    '| Key | Type | Needed | Meaning | At rest |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    ...defaultText('message', message),
    ...defaultText('body', body),
  ].join('\n');
}

function typeOf({ type, accepts, min, max }: ConfigurationField): string {
  const range = min === undefined ? '' : `, ${min} to ${max}`;
  return `${type}${accepts ? ` or ${accepts}` : ''}${range}`;
}

function needOf({ default: value, optional }: ConfigurationField): string {
  if (optional) return 'no';
  return value === undefined ? 'yes' : `default ${value === '' ? 'empty' : `\`${value}\``}`;
}

const defaultText = (part: string, text: string | null | undefined): string[] =>
  text ? [`Default ${part}: \`${text.replaceAll('\n', '\\n')}\``, ''] : [];

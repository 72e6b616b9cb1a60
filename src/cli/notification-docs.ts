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

The kinds of \`notification_type\` and what their \`notification_configuration\` holds. Unknown keys are
kept and returned as they are. Secrets are encrypted at rest and shown as \`$encrypted$\`; that word sent
back keeps the stored value. A PATCH replaces the configuration as a whole and merges \`messages\`. URLs
are encrypted at rest too; whoever may only read the template sees them masked, as do all records.

| To | Send |
|---|---|
| try a template | \`POST /api/v2/notification_templates/<id>/test/\`, with \`{"event": "success"}\` for the message of an event: one attempt, at once, whose record then is \`successful\` or \`failed\` |
| be told of runs | \`POST /api/v2/<parent>/<id>/notification_templates_<event>/\` \`{"id": <id>}\`: \`started\`, \`success\`, \`error\` of job templates, workflow job templates, projects and organizations, \`approvals\` of the last two kinds that have them |
| see what came of it | \`GET /api/v2/notifications/<id>/attempts/\`; \`summary_fields.circuit_breaker\` of the template says whether its destination is being left alone |
| repeat one | \`POST /api/v2/notifications/<id>/resend/\` |
| repeat a time range | \`POST /api/v2/notification_templates/<id>/resend/\` \`{"from": "2026-01-31T00:00:00Z"}\`, \`?dry_run=1\` to see what it would send |

| A record is | when |
|---|---|
| \`pending\` | it was not tried yet; \`error\` may say why it has to wait |
| \`failed\` | the last attempt failed, as \`error\` says. \`next_attempt_at\` says when it is tried again; null: no try is planned |
| \`successful\` | an attempt succeeded |

Network errors, time-outs, 408, 425, 429 and 5xx are tried again, eight attempts in about four hours;
other refusals and tests are not. While a try is planned a record cannot be sent again. A template cannot
be deleted while one of its records is \`pending\`; planned tries are cancelled with it. A worker that
dies in an attempt leaves it to another one, which makes it once more under the same id, tests too.

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

import { truncateText } from '../../common/fields/text.js';
import type { NotificationType } from '../backends/notification-type.js';
import { inspectMessages, type MessageText } from './messages.js';
import type { TemplateOutput } from './sandbox-task.js';
import { stubContext } from './stub-context.js';
import type { TemplateSandbox } from './template-sandbox.js';

/** Maximum length of a template excerpt in an error text. */
const QUOTED_LENGTH = 200;

/** Maximum total length of all templates of one object, in UTF-16 units. */
const MAX_TOTAL_LENGTH = 65_536;

/**
 * Returns all errors of a `messages` value for `{"messages": [...]}`: errors of its structure and of
 * each template. Templates are rendered for an example run; unknown variables are errors
 * (docs/contract/notifications.md#messages).
 */
export async function checkMessages(
  type: NotificationType,
  value: unknown,
  sandbox: TemplateSandbox,
): Promise<string[]> {
  const { errors, texts } = inspectMessages(value);
  const used = texts.filter(({ text }) => text !== '');
  if (used.length === 0) return errors;
  if (used.reduce((total, { text }) => total + text.length, 0) > MAX_TOTAL_LENGTH) {
    return [
      ...errors,
      `All messages together may not have more than ${MAX_TOTAL_LENGTH} characters.`,
    ];
  }
  const outputs = await sandbox.render(
    used.map(({ text }) => ({ template: text, strict: true })),
    stubContext(),
  );
  used.forEach((text, index) => {
    const output = outputs[index];
    if (output && 'fault' in output) errors.push(errorText(type, text, output));
  });
  return errors;
}

function errorText(
  type: NotificationType,
  { event, part, text }: MessageText,
  { fault, reason }: Extract<TemplateOutput, { fault: string }>,
): string {
  if (fault === 'undefined') return `Field '${reason}' unavailable`;
  if (fault === 'security') return `Security error due to field '${reason}'`;
  if (type === 'webhook' && part === 'body') {
    return `Webhook body for '${event}' is not valid. The following gave an error (${reason}).`;
  }
  return `Unable to render message '${truncateText(text, QUOTED_LENGTH)}': ${reason}`;
}

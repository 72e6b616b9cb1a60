import type { OutgoingMessage } from '../backends/backend.js';
import { messageOf, resultOr } from '../../common/errors/errors.js';
import { MAX_DEPTH, storableText } from '../../common/fields/text.js';
import { isRecord } from '../../common/records.js';
import type { NotificationType } from '../backends/notification-type.js';
import { contextOf, type MessageContext } from './context.js';
import { defaultPartsOf } from './default-messages.js';
import { partsFor, type MessageEvent, type Messages } from './message-events.js';
import type { MessageFacts } from './run-facts.js';
import type { TemplateOutput } from './sandbox-task.js';
import type { TemplateSandbox } from './template-sandbox.js';

const PLACEHOLDER = /\{\{ ([a-z_]+(?:\.[a-z_]+)*) \}\}/g;

/**
 * Fills the `{{ path }}` placeholders of the built-in default texts. The function supports no other syntax,
 * cannot fail and needs no sandbox, so a default text can always be sent. Missing values become "".
 * With `json`, values are escaped for use inside a JSON string.
 */
function fillPlaceholders(
  text: string,
  context: Readonly<Record<string, unknown>>,
  escape: 'none' | 'json' = 'none',
): string {
  return text.replace(PLACEHOLDER, (_match, path: string) => {
    const value = toText(valueAt(context, path.split('.')));
    return escape === 'json' ? JSON.stringify(value).slice(1, -1) : value;
  });
}

function valueAt(context: unknown, path: readonly string[]): unknown {
  let value = context;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    value = Reflect.get(value, key);
  }
  return value;
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Channels whose body is JSON and is stored as an object. */
const WITH_JSON_BODY: ReadonlySet<NotificationType> = new Set([
  'webhook',
  'incident_a',
  'dashboard_a',
]);

/** Channels that send a body; the others send only the message. */
const WITH_BODY: ReadonlySet<NotificationType> = new Set(['email', ...WITH_JSON_BODY]);

const BLANK_BODY = [
  'The template rendering return a blank body.',
  'Please check the template.',
  'A body needs at least one character that is not white space,',
  'and an empty body template uses the default text.',
].join('\r\n');

const SUBJECT_LIMIT = 65_536;
const REASON_LIMIT = 300;

export interface ComposeInput {
  readonly type: NotificationType;
  readonly event: MessageEvent;
  readonly messages: Messages | null;
  readonly facts: MessageFacts;
}

/**
 * Returns the subject and the body of a notification. Custom texts are rendered in the sandbox;
 * unknown variables are empty. If a text cannot be rendered, the default text with a note replaces
 * it, so that a broken template never prevents a notification. Never throws.
 */
export async function composeMessage(
  input: ComposeInput,
  sandbox: TemplateSandbox,
): Promise<OutgoingMessage> {
  const { type, event, messages, facts } = input;
  const context = contextOf(facts);
  const custom = partsFor(messages, event);
  const sources = [custom?.message, WITH_BODY.has(type) ? custom?.body : null];
  const templates = sources.flatMap((text, index) =>
    text
      ? [{ template: text, strict: false, isJson: index === 1 && WITH_JSON_BODY.has(type) }]
      : [],
  );
  const outputs = templates.length > 0 ? [...(await sandbox.render(templates, context))] : [];
  const message = sources[0] ? outputs.shift() : undefined;
  const body = sources[1] ? documentIn(type, outputs.shift()) : undefined;
  const notes = [noteOn('message', message), noteOn('body', body)].filter((note) => note !== null);
  const note = notes.length > 0 ? notes.join(' ') : null;
  const texts = renderedTexts(type, event, context, { message, body });
  return toMessage(type, texts, note);
}

/**
 * Returns the message of the test endpoint (docs/contract/notifications.md#test). `baseUrl` is the
 * address of this installation.
 */
export function composeTestMessage(
  type: NotificationType,
  templateId: number,
  baseUrl: string,
): OutgoingMessage {
  const subject = `Notification Test ${templateId} ${baseUrl}`;
  const text = `Test Notification ${templateId} ${baseUrl}`;
  const isJson = type === 'webhook' || type === 'dashboard_a';
  return {
    subject,
    body: { body: text },
    text: isJson ? JSON.stringify({ body: text }) : text,
  };
}

interface Texts {
  readonly subject: string;
  readonly body: string;
}

function renderedTexts(
  type: NotificationType,
  event: MessageEvent,
  context: MessageContext,
  rendered: { message: TemplateOutput | undefined; body: TemplateOutput | undefined },
): Texts {
  const defaults = defaultPartsOf(type, event);
  // Only the default body of approvals on the webhook channel is JSON with placeholders.
  const escape = type === 'webhook' && event.event === 'workflow_approval' ? 'json' : 'none';
  const subject = textIn(rendered.message) ?? fillPlaceholders(defaults.message, context);
  const body = textIn(rendered.body) ?? fillPlaceholders(defaults.body, context, escape);
  return { subject: storableText(subject.slice(0, SUBJECT_LIMIT)), body: storableText(body) };
}

function toMessage(type: NotificationType, texts: Texts, note: string | null): OutgoingMessage {
  if (!WITH_BODY.has(type)) {
    const subject = note ? `${texts.subject} (${note})` : texts.subject;
    return { subject, text: '', body: { body: subject } };
  }
  const isBlank = texts.body.trim() === '';
  if (!WITH_JSON_BODY.has(type)) {
    const text = `${isBlank ? BLANK_BODY : texts.body}${note ? `\n\n${note}` : ''}`;
    return { subject: texts.subject, text, body: { body: text } };
  }
  const text = isBlank && type === 'webhook' ? JSON.stringify({ body: BLANK_BODY }) : texts.body;
  return withJsonBody(texts.subject, isBlank && type !== 'webhook' ? BLANK_BODY : text, note);
}

/**
 * Returns the message. Its record contains the members of a JSON object, or another text as `body`. A note
 * is added as `note`.
 */
function withJsonBody(subject: string, text: string, note: string | null): OutgoingMessage {
  const object = storableObjectIn(text);
  if (!note) return { subject, text, body: object ?? { body: text } };
  const body = { ...(object ?? { body: text }), note };
  return { subject, text: JSON.stringify(body), body };
}

/**
 * Returns the JSON document with escaped values if the body is JSON. The webhook channel sends only JSON, so
 * any other text is an error there.
 */
function documentIn(
  type: NotificationType,
  output: TemplateOutput | undefined,
): TemplateOutput | undefined {
  if (!output || 'fault' in output || output.json === undefined) return output;
  if (output.text.trim() === '') return output;
  try {
    JSON.parse(output.json);
    return { text: output.json };
  } catch (error) {
    if (type !== 'webhook') return output;
    return { fault: 'runtime', reason: `it is not valid JSON (${messageOf(error)})` };
  }
}

function textIn(output: TemplateOutput | undefined): string | null {
  return output && 'text' in output ? output.text : null;
}

function noteOn(part: 'message' | 'body', output: TemplateOutput | undefined): string | null {
  if (!output || 'text' in output) return null;
  const reason = storableText(output.reason.slice(0, REASON_LIMIT));
  return `The custom ${part} could not be rendered: ${reason}. This is the default text.`;
}

/**
 * Returns the object of a JSON text, made storable in a jsonb column; null if the text is not an
 * object, or is nested deeper than `MAX_DEPTH`.
 */
function storableObjectIn(text: string): Record<string, unknown> | null {
  const value = resultOr(() => storable(JSON.parse(text), MAX_DEPTH), null);
  return isRecord(value) ? value : null;
}

function storable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) throw new RangeError('nested too deeply');
  if (Array.isArray(value)) return value.map((item) => storable(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storableText(key), storable(item, depth - 1)]),
  );
}

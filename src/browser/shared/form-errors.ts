import type { FieldErrors } from '../../common/errors/errors.js';
import { isRecord } from '../../common/records.js';
import { errorList } from './form-fields.js';
import { html, type HtmlValue } from './html.js';
import { labelFor } from './labels.js';

/** Renders the errors that belong to no field of the form; a hint if all errors belong to fields. */
export function topErrors(errors: FieldErrors | undefined, shown: readonly string[]): HtmlValue {
  if (!errors) return null;
  const texts = Object.entries(errors)
    .filter(([name]) => !shown.includes(name))
    .flatMap(([name, value]) =>
      messagesOf(withoutMembers(value, name, shown)).map((text) =>
        name === '__all__' || name === 'detail' ? text : `${labelFor(name)}: ${text}`,
      ),
    );
  return texts.length > 0
    ? html`<div class="message error span" role="alert">${errorList(texts, 'form-errors')}</div>`
    : html`<p class="message error span" role="alert">Some fields have errors.</p>`;
}

/** Returns the errors of a field; for a name with a dot, the errors of the document member. */
export function errorsAt(errors: FieldErrors | undefined, name: string): string[] {
  const [document = '', ...member] = name.split('.');
  const inner = errors?.[document];
  return [
    ...messagesOf(errors?.[name]),
    ...(isRecord(inner) ? messagesOf(inner[member.join('.')]) : []),
  ];
}

/** Returns the errors of a document without the errors of members that have their own field. */
const withoutMembers = (value: unknown, name: string, shown: readonly string[]): unknown =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).filter(([member]) => !shown.includes(`${name}.${member}`)),
      )
    : value;

/** Returns the messages of an entry of an error body; nested messages start with their key. */
export function messagesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      typeof item === 'string' ? [item] : messagesOf(item).map((text) => `${index}: ${text}`),
    );
  }
  if (typeof value !== 'object') return [String(value)];
  return Object.entries(value).flatMap(([name, inner]) =>
    messagesOf(inner).map((text) => `${name}: ${text}`),
  );
}

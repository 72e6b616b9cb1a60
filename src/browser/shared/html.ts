import { escapeHtml } from '../../common/escape-html.js';

/** HTML that is safe to send: `html`, or the code that calls the constructor, escapes every value. */
export class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** A value in a template; null, undefined and false render as empty. */
export type HtmlValue = Html | string | number | boolean | null | undefined | readonly HtmlValue[];

/** End of a template part whose next value begins a URL of a link, a form or a file. */
const ADDRESS = /\s(?:href|src|action|formaction)="$/;
/** Paths of this server, fragments, queries, and http and https URLs; excludes `javascript:`. */
const SAFE_ADDRESS = /^(?:\/(?![/\\])|[?#]|https?:\/\/|$)/;

/**
 * Builds HTML. Escapes plain values for content and for double-quoted attributes, keeps `Html` values and
 * joins lists. Replaces an unsafe URL by `#`.
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    const isAddress = ADDRESS.test(parts[index] ?? '');
    text += (isAddress ? safeAddress(render(value)) : render(value)) + (parts[index + 1] ?? '');
  });
  return new Html(text);
}

const safeAddress = (text: string): string => (SAFE_ADDRESS.test(text) ? text : '#');

function render(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) return value.map(render).join('');
  return escapeHtml(String(value));
}

/** Renders attributes of an element; `true` renders only the name; null, undefined and false are omitted. */
export const attributes = (
  values: Record<string, string | number | boolean | null | undefined>,
): Html =>
  new Html(
    Object.entries(values)
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) =>
        value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`,
      )
      .join(''),
  );

/** Returns a text as HTML; parts in backticks become code. */
export const prose = (text: string): HtmlValue =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));

export const hiddenInput = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

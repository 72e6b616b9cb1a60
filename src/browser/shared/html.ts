import { escapeHtml } from '../../common/escape-html.js';

/** HTML that is safe to send: made by `html`, which escapes every value put into it. */
export class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** A value in a template; null, undefined and false render as empty. */
export type HtmlValue = Html | string | number | boolean | null | undefined | readonly HtmlValue[];

/** The end of a part whose next value begins the address of a link, a form or a file. */
const ADDRESS = /\s(?:href|src|action|formaction)="$/;
/** Addresses of this site, parts of the page, and those of http and https: no `javascript:`. */
const SAFE_ADDRESS = /^(?:\/(?![/\\])|[?#]|https?:\/\/|$)/;

/**
 * Builds HTML. Plain values are escaped for content and for double-quoted attributes, `Html` is
 * kept, lists are joined; an address that is not safe leads nowhere. It is the only way from data to a
 * page, so nothing can be forgotten.
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

/** Attributes of an element; `true` stands alone, null and false are left out. */
export const attributes = (
  given: Record<string, string | number | boolean | null | undefined>,
): Html =>
  new Html(
    Object.entries(given)
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) =>
        value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`,
      )
      .join(''),
  );

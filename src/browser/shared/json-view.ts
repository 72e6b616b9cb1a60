import { entriesOf, ExactNumber, exactJson } from '../../common/exact-json.js';
import { escapeHtml } from '../../common/escape-html.js';
import { Html, html } from './html.js';
import type { IsPage } from './related.js';

const INDENT = '  ';

/**
 * Renders a JSON document with highlighting and with links for API paths and web URLs.
 *
 * @param isPage returns true if a path has a page
 */
export const jsonView = (value: unknown, label: string, isPage: IsPage = () => true): Html =>
  html`<pre class="json" tabindex="0" role="region" aria-label="${label}">
${new Html(write(value, '', marksWith(isPage)))}</pre>`;

/** Writes JSON with one member per line, with the formats and orders that `parseExact` kept. */
export const indentedJson = (value: unknown): string => write(value, '', exactJson);

/** Writes a name (`k`), text (`s`), number (`n`) or other value (`b`) of a document. */
type Mark = (value: unknown, kind: 'b' | 'k' | 'n' | 's') => string;

const marksWith =
  (isPage: IsPage): Mark =>
  (value, kind) =>
    `<span class="${kind}">${kind === 's' ? linkedText(String(value), isPage) : escapeHtml(exactJson(value))}</span>`;

function write(value: unknown, indent: string, mark: Mark): string {
  if (Array.isArray(value)) {
    return block(
      '[',
      ']',
      value.map((item) => write(item, indent + INDENT, mark)),
      indent,
    );
  }
  if (typeof value === 'number' || value instanceof ExactNumber) return mark(value, 'n');
  if (value !== null && typeof value === 'object') {
    const members = entriesOf(value).map(
      ([key, item]) => `${mark(key, 'k')}: ${write(item, indent + INDENT, mark)}`,
    );
    return block('{', '}', members, indent);
  }
  return mark(value, typeof value === 'string' ? 's' : 'b');
}

function block(open: string, close: string, items: readonly string[], indent: string): string {
  if (items.length === 0) return open + close;
  const inner = indent + INDENT;
  return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
}

function linkedText(value: string, isPage: IsPage): string {
  const shown = escapeHtml(JSON.stringify(value));
  const link = linkOf(value);
  return link === null || !isPage(link)
    ? shown
    : `<a href="${escapeHtml(link)}"${link.startsWith('/') ? '' : ' rel="noopener noreferrer"'}>${shown}</a>`;
}

/** Returns the text if it is a path of the API or an http or https URL; null otherwise. */
export function linkOf(value: string): string | null {
  if (/^\/api\/[\x21-\x7e]*$/.test(value)) return value;
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(value) || !URL.canParse(value)) return null;
  return value;
}

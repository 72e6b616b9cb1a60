import { STATUS_CODES } from 'node:http';
import type { Response } from 'express';
import { METHOD_FIELD } from './browser-form.js';
import { html, type Html, type HtmlValue } from './html.js';
import { jsonView } from './json-view.js';
import { csrfInput, folded } from './layout.js';
import { withQuery, type PageContext } from './page-context.js';
import { isLongerThan } from '../../common/http/long-response.js';
import type { IsPage } from './related.js';
import { isRecord } from '../../common/records.js';

/** Headers that only pages have or whose value differs on pages, and headers with secrets. */
const OMITTED_HEADERS = new Set(['set-cookie', 'content-security-policy', 'content-type']);

/** Maximum number of rows in the JSON view; limits the rendering time of long lists. */
const JSON_ROWS = 25;
/** Maximum number of characters of the JSON view. Its HTML is several times longer. */
const JSON_CHARACTERS = 500_000;

/** Id of the section with the API response. */
export const RESPONSE_ID = 'response';

interface ResponseParts {
  /** True if the response is the main part of the page. */
  open: boolean;
  isPage: IsPage;
  /** Fields and related links of the object on the page. */
  object: HtmlValue;
}

/**
 * Renders the API response of a page's URL: fields and related links, request line, status, headers,
 * JSON, a curl command and the methods of the URL.
 */
export function responseView(
  context: PageContext,
  response: Response,
  { status, body }: { status: number; body: unknown },
  { open, isPage, object }: ResponseParts,
): Html {
  const target = context.path + withQuery(context.query, { format: null });
  const json = context.path + withQuery(context.query, { format: 'json' });
  const document =
    body !== undefined && folded('JSON', documentView(body, json, isPage), { kind: 'plain', open });
  const content = html`${object}
    <div class="line">
      <code class="request"><b>${context.method}</b> ${target}</code>
      <span class="badge ${status < 400 ? 'good' : 'bad'}">${status} ${STATUS_CODES[status]}</span>
      ${context.method === 'GET' && status < 400 && html`<a class="button small" href="${json}">View as JSON</a>`}
      ${context.actor && optionsButton(context)}
      ${methodList(String(response.getHeader('Allow') ?? ''))}
    </div>
    ${folded('Headers', headerList(response), { kind: 'plain' })}
    ${folded('Copy as curl', curlView(context, target), { kind: 'plain' })} ${document}`;
  if (!open) return folded('API', content, { id: RESPONSE_ID });
  return html`<section class="response" id="${RESPONSE_ID}" aria-labelledby="response-title">
    <h2 id="response-title">API</h2>
    ${content}
  </section>`;
}

function methodList(allow: string): Html | null {
  if (allow === '') return null;
  const methods = allow.split(', ').map((method) => html`<code class="method">${method}</code> `);
  return html`<p class="allow"><span class="hidden">Allowed methods: </span>${methods}</p>`;
}

const optionsButton = ({ path, csrf }: PageContext): Html =>
  html`<form method="post" action="${path}">
    ${csrfInput(csrf)}
    <button class="small" name="${METHOD_FIELD}" value="OPTIONS" title="Show what this URL accepts">
      Show options
    </button>
  </form>`;

/**
 * Renders the JSON of a response; for a long list, the first rows and a link to the complete JSON; for
 * a document that is too long for a page, only the link.
 */
function documentView(body: unknown, all: string, isPage: IsPage): Html {
  const label = 'JSON of the response';
  const rows = isRecord(body) && Array.isArray(body.results) ? body.results : [];
  const isList = isRecord(body) && rows.length > JSON_ROWS;
  const excerpt = isList ? { ...body, results: rows.slice(0, JSON_ROWS) } : body;
  if (isLongerThan(excerpt, JSON_CHARACTERS)) {
    return html`<p class="hint">
      The JSON of this response is too long for a page. <a href="${all}">All as JSON</a>
    </p>`;
  }
  if (!isList) return jsonView(body, label, isPage);
  return html`<p class="hint">
      The first ${JSON_ROWS} of ${rows.length} rows. <a href="${all}">All as JSON</a>
    </p>
    ${jsonView(excerpt, label, isPage)}`;
}

function headerList(response: Response): Html {
  const names = response.getHeaderNames().filter((name) => !OMITTED_HEADERS.has(name));
  const headers = names.map((name) => [titled(name), String(response.getHeader(name))] as const);
  return html`<dl class="headers">
    ${[['Content-Type', 'application/json'] as const, ...headers].map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** Returns a header name in title case, such as `X-Api-Time`. */
const titled = (name: string): string =>
  name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());

function curlView({ origin, method }: PageContext, target: string): Html {
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  const data =
    method === 'GET' || method === 'OPTIONS' || method === 'DELETE'
      ? ''
      : ` \\\n  -H 'Content-Type: application/json' -d '{}'`;
  const command = `curl${verb} -H "Authorization: Bearer $TOKEN" \\\n  -H 'Accept: application/json'${data} \\\n  ${quoted(origin + target)}`;
  return html`<div class="copy" data-copy>
      <pre tabindex="0" role="region" aria-label="curl command">${command}</pre>
    </div>
    <p class="hint">Create a token at <a href="/api/v2/tokens/">Tokens</a>.</p>`;
}

/** Quotes a text as a single word for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

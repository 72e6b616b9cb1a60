import { html, type Html } from './html.js';
import { jsonView } from './json-view.js';
import { folded } from './layout.js';
import { withQuery, type PageContext } from './page-context.js';

/** What the same request gets as JSON. */
export interface ShownAnswer {
  status: number;
  reason: string;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** The request line, the answer's status and headers, its JSON, and the command that repeats it. */
export function responseView(
  context: PageContext,
  answer: ShownAnswer,
  { open }: { open: boolean },
): Html {
  const target = context.path + withQuery(context.query, { format: null });
  const json = context.path + withQuery(context.query, { format: 'json' });
  const tone = answer.status < 400 ? 'good' : 'bad';
  return html`<section class="response" aria-labelledby="response-title">
    <div class="line">
      <h2 id="response-title">Response</h2>
      <code class="request"><b>${context.method}</b> ${target}</code>
      <span class="badge ${tone}">${answer.status} ${answer.reason}</span>
      ${context.method === 'GET' && html`<a class="button small" href="${json}">View as JSON</a>`}
    </div>
    ${folded('Headers', headerList(answer.headers), { kind: 'plain' })}
    ${folded('Copy as curl', curlView(context, target), { kind: 'plain' })}
    ${answer.body !== undefined && folded('JSON', jsonView(answer.body, 'JSON of the answer'), { kind: 'plain', open })}
  </section>`;
}

const headerList = (headers: Readonly<Record<string, string>>): Html =>
  html`<dl class="headers">
    ${Object.entries(headers).map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;

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
    <p class="hint">Make a token at <a href="/api/v2/tokens/">Tokens</a>.</p>`;
}

/** A text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

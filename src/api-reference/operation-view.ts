import { html, type Html, type HtmlValue } from '../common/pages/html.js';
import { jsonView } from '../common/pages/json-view.js';
import { folded } from '../common/pages/layout.js';
import { memberRow, memberRows, memberTable, typeView, type Schema } from './schema-view.js';

/** An operation of the document, as far as the reference shows it. */
export interface Operation {
  method: string;
  path: string;
  operationId: string;
  summary: string;
  tags: readonly string[];
  security?: readonly Record<string, readonly string[]>[];
  parameters?: readonly Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

export const methodBadge = (method: string): Html =>
  html`<code class="verb verb-${method.toLowerCase()}">${method}</code>`;

/** Everything the document says of one operation. */
export function operationView(operation: Operation): Html {
  const { method, path, operationId, summary, requestBody, responses } = operation;
  const [body] = Object.values(requestBody?.content ?? {});
  return html`<article class="card operation" id="${operationId}">
    <h2>
      ${methodBadge(method)} <code class="path">${path}</code>
      <a class="anchor" href="#${operationId}"
        ><span class="hidden">Link to ${operationId}</span></a
      >
    </h2>
    <p>${summary}</p>
    <p class="hint">${operation.security?.length ? 'Needs credentials.' : 'Open to everyone.'}</p>
    ${parameterTable(operation)} ${body && requestView(body.schema, operationId)}
    ${folded('Example call', exampleCall(operation, body?.schema.examples?.[0]), { kind: 'plain' })}
    ${responseTable(responses, operationId)}
  </article>`;
}

function parameterTable({ parameters = [], operationId }: Operation): HtmlValue {
  if (parameters.length === 0) return null;
  const rows = parameters.map(({ name, required, description, schema }) =>
    memberRow(name, { ...schema, ...(description ? { description } : {}) }, required === true),
  );
  return html`<h3>Parameters</h3>
    ${memberRows(rows, `Parameters of ${operationId}`)}`;
}

const requestView = (schema: Schema, operationId: string): Html =>
  html`<h3>Request</h3>
    ${
      memberTable(schema, `Members of the request of ${operationId}`) ??
      html`<p class="hint">Any JSON object, or nothing.</p>`
    }`;

/** The call as it is typed, and the body it sends. */
function exampleCall({ method, path, security }: Operation, example: unknown): Html {
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  const token = security?.length ? ' -H "Authorization: Bearer $TOKEN"' : '';
  const data =
    example === undefined
      ? ''
      : ` \\\n  -H 'Content-Type: application/json' -d '${JSON.stringify(example).replaceAll("'", `'\\''`)}'`;
  const url = path.replaceAll(/\{(\w+)\}/g, '1');
  const command = `curl${verb}${token}${data} \\\n  "$URL${url}"`;
  return html`<div class="copy" data-copy>
      <pre tabindex="0" role="region" aria-label="curl command">${command}</pre>
    </div>
    ${example !== undefined && jsonView(example, 'Body of the example')}`;
}

const responseTable = (responses: Operation['responses'], operationId: string): Html =>
  html`<h3>Answers</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Answers of ${operationId}">
      <table class="members">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Meaning</th>
            <th scope="col">Body</th>
          </tr>
        </thead>
        <tbody>
          ${Object.entries(responses).map(
            ([status, { description, content }]) =>
              html`<tr>
                <th scope="row">${status}</th>
                <td>${description}</td>
                <td>${bodyView(content)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;

function bodyView(content: Content = {}): HtmlValue {
  const entries = Object.entries(content);
  if (entries.length === 0) return 'none';
  return entries.map(([media, { schema }]) =>
    media === 'application/json'
      ? html`${typeView(schema)}${inlineMembers(schema)}`
      : html`<code>${media}</code>`,
  );
}

const inlineMembers = (schema: Schema): HtmlValue => {
  const table = schema.$ref ? null : memberTable(schema, 'Members of the body');
  return table && folded('Members', table, { kind: 'plain' });
};

import type { OpenAPIObject } from '@nestjs/swagger';
import { html, type Html } from '../common/pages/html.js';
import { page } from '../common/pages/layout.js';
import type { PageContext } from '../common/pages/page-context.js';
import { methodBadge, operationView, type Operation } from './operation-view.js';
import { memberTable, schemasOf, schemaUrl, typeView, type Schema } from './schema-view.js';
import { labelOf } from '../common/fields/label.js';

export const REFERENCE_URL = '/api/docs/reference/';

const tagUrl = (tag: string): string => `${REFERENCE_URL}${tag}/`;

/** Operations by the first of their tags, both in the order of the document. */
export function operationsByTag({ paths }: OpenAPIObject): Map<string, Operation[]> {
  const byTag = new Map<string, Operation[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const operation = { ...(described as Operation), method: method.toUpperCase(), path };
      const tag = operation.tags?.[0] ?? 'other';
      byTag.set(tag, [...(byTag.get(tag) ?? []), operation]);
    }
  }
  return new Map([...byTag].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Every operation in a line, by its subject. */
export function indexPage(context: PageContext, document: OpenAPIObject): string {
  const byTag = operationsByTag(document);
  const total = [...byTag.values()].reduce((sum, { length }) => sum + length, 0);
  return page({
    context,
    title: 'Reference',
    content: html`${crumbs('Reference')}
      <div class="heading">
        <div>
          <h1>Reference</h1>
          <p class="description">
            ${total} operations of version ${document.info.version}. The same document
            <a href="/api/docs/">can be tried out</a> in the explorer and
            <a href="/api/openapi.json">read by programs</a>.
          </p>
        </div>
      </div>
      ${CONVENTIONS}
      <nav class="card" aria-labelledby="subjects-title">
        <h2 id="subjects-title">Subjects</h2>
        <ul class="directory">
          ${[...byTag].map(
            ([tag, { length }]) =>
              html`<li>
                <a href="${tagUrl(tag)}">
                  <strong>${labelOf(tag)}</strong><small>${length} operations</small>
                </a>
              </li>`,
          )}
        </ul>
      </nav>
      ${[...byTag].map(([tag, operations]) => operationList(tag, operations))}
      <nav class="card" aria-labelledby="schemas-title">
        <h2 id="schemas-title">Objects</h2>
        <ul class="columns-of-names">
          ${Object.keys(schemasOf(document))
            .sort()
            .map((name) => html`<li><a href="${schemaUrl(name)}">${name}</a></li>`)}
        </ul>
      </nav>`,
  });
}

/** What holds for all operations, in short. */
const CONVENTIONS = html`<section class="card" aria-labelledby="conventions-title">
  <h2 id="conventions-title">What holds everywhere</h2>
  <ul>
    <li>
      Credentials: an access token (<code>Authorization: Bearer …</code>, made at
      <a href="${tagUrl('tokens')}">tokens</a>), Basic, or the session of a browser, whose changes
      need <code>X-CSRFToken</code>.
    </li>
    <li>Bodies are JSON objects. Unknown members are ignored, read-only ones too.</li>
    <li>
      Lists come in pages: <code>count</code>, <code>next</code>, <code>previous</code>,
      <code>results</code>. Any field filters, also of related objects:
      <code>?organization__name=Default&amp;name__icontains=web</code>.
    </li>
    <li>
      Errors are <a href="${schemaUrl('Detail')}">one sentence</a> or
      <a href="${schemaUrl('FieldErrors')}">messages by field</a>. A 5xx is worth a second attempt
      after <code>Retry-After</code>; every answer carries <code>X-API-Request-Id</code>.
    </li>
    <li>
      Launches and bulk operations take <code>Idempotency-Key</code>: sent again, the first answer
      comes again.
    </li>
  </ul>
</section>`;

const operationList = (tag: string, operations: readonly Operation[]): Html =>
  html`<section aria-labelledby="tag-${tag}">
    <h2 id="tag-${tag}"><a href="${tagUrl(tag)}">${labelOf(tag)}</a></h2>
    <ul class="operations card">
      ${operations.map(
        ({ method, path, operationId, summary }) =>
          html`<li>
            ${methodBadge(method)}
            <a href="${tagUrl(tag)}#${operationId}"><code class="path">${path}</code></a>
            <span>${summary}</span>
          </li>`,
      )}
    </ul>
  </section>`;

/** The operations of one subject in full. */
export const tagPage = (
  context: PageContext,
  tag: string,
  operations: readonly Operation[],
): string =>
  page({
    context,
    title: `${labelOf(tag)} reference`,
    content: html`${crumbs(labelOf(tag))}
      <h1>${labelOf(tag)}</h1>
      ${operationList(tag, operations)} ${operations.map(operationView)}`,
  });

/** One kind of object in full. */
export function schemaPage(context: PageContext, name: string, schema: Schema): string {
  return page({
    context,
    title: `${name} reference`,
    content: html`${crumbs(name)}
      <h1>${name}</h1>
      ${schema.description && html`<p class="description">${schema.description}</p>`}
      <p>${typeView(schema)}</p>
      ${memberTable(schema, `Members of ${name}`)}`,
  });
}

const crumbs = (last: string): Html =>
  html`<nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      <li><a href="/api/">API</a></li>
      ${last !== 'Reference' && html`<li><a href="${REFERENCE_URL}">Reference</a></li>`}
      <li aria-current="page">${last}</li>
    </ol>
  </nav>`;

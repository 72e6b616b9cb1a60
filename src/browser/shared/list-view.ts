import { labelOf } from '../../common/fields/label.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { hiddenInput, html, type Html, type HtmlValue } from './html.js';
import { withQuery, type PageContext } from './page-context.js';
import { countOf, pluralOf, labelIn } from './labels.js';
import { isFiltered } from './filters.js';
import { formUrl } from './form-parameters.js';
import { removeButton } from './panel-forms.js';
import { hasActions, type RowActions } from './list-actions.service.js';
import { isInstant, objectTitleOf, toneOf, valueView, type Item } from './value-views.js';
import { isRecord, listOf, memberOf, textMember } from '../../common/records.js';

const MAX_COLUMNS = 7;
/** Fields that have no column: the table shows them elsewhere, or they help no reader of a list. */
const NEVER_COLUMNS = new Set([
  'id',
  'type',
  'url',
  'created',
  'guid',
  'related',
  'summary_fields',
  'password',
]);

/** Columns that are shown even if they are empty. */
const ALWAYS_SHOWN = new Set(['name', 'username', 'status']);

interface ListParts {
  context: PageContext;
  definition: ResourceDefinition | undefined;
  /** The response body with the rows. */
  body: Item;
  /** True if the page has a form that creates an object. */
  canAdd: boolean;
  /** True if the caller may remove rows from the list. */
  removable: boolean;
  /** Actions of the rows, in the order of the rows. */
  actions: readonly RowActions[];
  /** False if a panel already shows the rows. */
  showsRows: boolean;
}

/** Renders the rows of a list as a table, and links to its other pages. */
export function listView(parts: ListParts): Html {
  const rows = listOf(parts.body.results).filter(isRecord);
  return html`<div>
    <h2 class="hidden">Results</h2>
    ${parts.showsRows && (rows.length === 0 ? emptyView(parts) : table(parts, rows))}
    ${pagination(parts, rows.length)}
  </div>`;
}

/** Renders the reason why a list is empty, and a link to the next step. */
function emptyView({ context, definition, canAdd }: ListParts): Html {
  const { path, query } = context;
  if (isFiltered(query)) {
    return html`<p class="empty">No results match the filters. <a href="${path}">Show all</a></p>`;
  }
  const emptyLink = definition?.pages.emptyLink;
  const kind = definition?.label.toLowerCase() ?? 'entry';
  const first = canAdd
    ? html`<a href="${formUrl(path, 'post')}">Create ${kind}</a>`
    : emptyLink &&
      path === `/api/v2/${definition?.path}/` &&
      html`<a href="/api/v2/${emptyLink.list}/">${emptyLink.text}</a>`;
  return html`<p class="empty">No ${pluralOf(definition)} yet. ${first}</p>`;
}

function table(parts: ListParts, rows: readonly Item[]): Html {
  const { context, definition, removable, actions } = parts;
  const hasRuns = rows.some((row) => recentRuns(row).length > 0);
  const isSelectable = actions.some(canSelect);
  const hasActionColumn = removable || rows.some(hasActions);
  const columns = columnsOf(definition, rows);
  const isMixed = !definition || definition.variants !== undefined;
  const typed = isMixed && rows.some((row) => typeof row.type === 'string');
  const labels = columns.map((name) => labelIn(definition, name));
  const [first = ''] = columns;
  const showsId = rows.some((row) => 'id' in row && !isNamed(row, first, definition));
  // All rows have the same labels, so each label is rendered once.
  const labelAttributes = labels.map((label) => html`data-label="${label}"`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Results">
      <table class="stacks">
        <thead>
          <tr>
            ${isSelectable && html`<th scope="col"><span class="hidden">Select</span></th>`}
            ${showsId && columnHeading(context, definition, 'id', 'ID')}
            ${columns.map((name, index) => [
              columnHeading(context, definition, name, labels[index] ?? ''),
              index === 0 && typed && html`<th scope="col">Type</th>`,
              name === 'status' && hasRuns && html`<th scope="col">Last runs</th>`,
            ])}
            ${hasActionColumn && html`<th scope="col"><span class="hidden">Actions</span></th>`}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row, rowIndex) =>
              html`<tr>
                ${isSelectable && html`<td class="select">${selectBox(row, actions[rowIndex])}</td>`}
                ${showsId && html`<td class="number" data-label="ID">${linked(row, String(row.id))}</td>`}
                ${columns.map((name, index) => [
                  cell(row, name, definition, index === 0 ? null : labelAttributes[index]),
                  index === 0 &&
                    typed &&
                    html`<td data-label="Type">${labelOf(String(row.type))}</td>`,
                  name === 'status' &&
                    hasRuns &&
                    html`<td data-label="Last runs">${runSquares(row)}</td>`,
                ])}
                ${hasActionColumn && html`<td class="end">${actions[rowIndex]?.buttons} ${removable && removeButton({ action: context.path, csrf: context.csrf }, row)}</td>`}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${isSelectable && selectionBar(context, actions)}`;
}

/** Returns the last runs of a template, newest first. */
const recentRuns = ({ summary_fields: summary }: Item): Item[] =>
  listOf(memberOf(summary, 'recent_jobs')).filter(isRecord);

/** Renders the last runs of a template as squares, oldest first. */
const runSquares = (row: Item): Html =>
  html`<span class="squares">
    ${recentRuns(row)
      .toReversed()
      .map(({ id, type, status }) => {
        const label = `#${String(id)} ${labelOf(String(status)).toLowerCase()}`;
        return html`<a
          href="/api/v2/${String(type)}s/${String(id)}/"
          class="square ${toneOf(String(status))}"
          title="${label}"
          ><span class="hidden">${label}</span></a
        >`;
      })}
  </span>`;

const canSelect = ({ mayCancel, mayDelete }: RowActions): boolean => mayCancel || mayDelete;

/** Renders the check box of a row; the form is below the table, because forms cannot be nested. */
const selectBox = (row: Item, actions: RowActions | undefined): HtmlValue =>
  actions &&
  canSelect(actions) &&
  html`<input
    type="checkbox"
    form="selection"
    name="at"
    value="${String(row.type)}.${String(row.id)}"
    aria-label="Select ${objectTitleOf(row)}"
  />`;

/** Renders the buttons for the selected rows; each opens a page that lists the selected rows. */
const selectionBar = ({ path, query }: PageContext, actions: readonly RowActions[]): Html =>
  html`<form id="selection" class="actions" method="get" action="/selection/">
    ${hiddenInput('back', path + withQuery(query))}
    ${actions.some(({ mayCancel }) => mayCancel) && html`<button name="action" value="cancel">Cancel selected</button>`}
    ${actions.some(({ mayDelete }) => mayDelete) && html`<button name="action" value="delete">Delete selected</button>`}
  </form>`;

const linked = (row: Item, text: string): Html =>
  typeof row.url === 'string' ? html`<a href="${row.url}">${text}</a>` : html`${text}`;

function cell(
  row: Item,
  name: string,
  definition: ResourceDefinition | undefined,
  /** Label of the cell in the card layout; null for the cell with the name. */
  labelAttribute: Html | null | undefined,
): Html {
  const shown = valueView(name, row, definition);
  if (labelAttribute) return html`<td ${labelAttribute}>${shown}</td>`;
  const isLink = isNamed(row, name, definition);
  return html`<th scope="row">${isLink ? linked(row, String(row[name])) : shown}</th>`;
}

/** Returns true if the cell names its row; the cell then links to the page of the row. */
const isNamed = (row: Item, name: string, definition: ResourceDefinition | undefined): boolean =>
  typeof row[name] === 'string' && row[name] !== '' && !isInstant(name, definition);

/**
 * Returns the columns of the layout; without them, up to seven scalar fields: names first, then the
 * status, then keys, references and other fields.
 */
function columnsOf(
  definition: ResourceDefinition | undefined,
  rows: readonly Item[],
): readonly string[] {
  if (definition?.pages.columns) return definition.pages.columns;
  const hasName = rows.some((row) => 'name' in row || 'username' in row);
  const present = Object.keys(rows[0] ?? {}).filter((name) => {
    const field = definition?.field(name);
    if (
      NEVER_COLUMNS.has(name) ||
      (name === 'description' && hasName) ||
      field?.kind === 'json' ||
      field?.kind === 'variables'
    ) {
      return false;
    }
    // Empty columns are omitted, except for columns that users expect.
    const isFilled =
      ALWAYS_SHOWN.has(name) || rows.some((row) => row[name] !== null && row[name] !== '');
    return isFilled && rows.every((row) => row[name] === null || typeof row[name] !== 'object');
  });
  const weight = (name: string): number => {
    if (['name', 'username'].includes(name)) return 0;
    if (name === 'status') return 1;
    if (definition?.naturalKey.includes(name) || definition?.summary.includes(name)) return 2;
    const field = definition?.field(name);
    if (field?.target) return 3;
    return name === 'modified' ? 4 : field?.kind === 'boolean' ? 6 : 5;
  };
  return present
    .map((name, index) => ({ name, rank: weight(name) * 1000 + index }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_COLUMNS)
    .map(({ name }) => name);
}

function columnHeading(
  { path, query }: PageContext,
  definition: ResourceDefinition | undefined,
  name: string,
  label: string,
): Html {
  const field = definition?.field(name);
  if (!field || field.column === null || !field.filter || field.internal) {
    return html`<th scope="col">${label}</th>`;
  }
  const current = [query.order_by].flat()[0] ?? definition?.orderBy[0];
  const order = current === name ? 'ascending' : current === `-${name}` ? 'descending' : 'none';
  const next = withQuery(query, {
    order_by: order === 'ascending' ? `-${name}` : name,
    page: null,
    after: null,
  });
  return html`<th scope="col" aria-sort="${order}"><a href="${path}${next}">${label}</a></th>`;
}

function pagination({ context, definition, body }: ListParts, shown: number): Html {
  const { count } = body;
  const [next, previous] = [textMember(body, 'next'), textMember(body, 'previous')];
  const page = Number([context.query.page].flat()[0] ?? 1);
  const linkedSize = Number(new URLSearchParams((next || previous).split('?')[1]).get('page_size'));
  // If the links have no page size, a page with a next page has the full size.
  const size = linkedSize || (next ? shown : 0);
  const last = typeof count === 'number' ? Math.max(1, Math.ceil(count / (size || 1))) : 0;
  const step = (url: string | null | undefined, label: string, rel: string): Html =>
    url
      ? html`<a class="button" href="${url}" rel="${rel}">${label}</a>`
      : html`<span class="button" aria-disabled="true">${label}</span>`;
  const total = typeof count === 'number' ? countOf(definition, count) : '';
  if (!next && !previous) return html`<p class="total">${total}</p>`;
  return html`<nav class="pages" aria-label="Pages">
    ${step(previous, 'Previous', 'prev')}
    <span>Page ${Number.isNaN(page) ? 'last' : page}${last > 0 && size > 0 && ` of ${last}`}</span>
    ${step(next, 'Next', 'next')}
    <span class="total">${total}</span>
  </nav>`;
}

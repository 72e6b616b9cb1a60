import type { Field } from '../../common/fields/field.js';
import { searchFields } from '../../common/list/filter-compiler.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { attributes, html, type Html } from './html.js';
import { hiddenQuery } from './layout.js';
import { ANYTHING } from './page-controls.js';
import { withQuery, type PageContext } from './page-context.js';
import { queryEntries, type QueryParameters } from '../../common/list/query.js';
import { labelFor, labelForField } from './labels.js';

const PAGE_SIZES = ['10', '25', '50', '100', '200'];
const LOOKUP_LABELS: readonly (readonly [lookup: string, label: string])[] = [
  ['icontains', 'contains'],
  ['exact', 'is'],
  ['not__exact', 'is not'],
  ['istartswith', 'starts with'],
  ['gt', 'is greater than'],
  ['lt', 'is less than'],
  ['in', 'is one of (comma-separated)'],
  ['empty', 'is empty'],
  ['not__empty', 'is not empty'],
];
/** Parameters that have their own control or select no rows; all other parameters are filters. */
const CONTROLS = new Set([
  'search',
  'order_by',
  'order',
  'page',
  'after',
  'page_size',
  'format',
  'count_disabled',
  'limit',
]);
/** Query changes that select the first page, for a changed list. */
const FIRST_PAGE = { page: null, after: null };
const MAX_SELECTS = 3;

/**
 * Renders search, filters, order and page size of a list as a form that works without scripts. Order,
 * page size and the filter builder are collapsed.
 */
export function filterPanel(context: PageContext, definition: ResourceDefinition): Html {
  const { path, query } = context;
  const fields = definition.fields.filter(isFilterable);
  const withChoices = fields.filter(({ kind, choices }) => kind === 'choice' && choices.length > 1);
  const runs = definition.field('launch_type') ? runFilters(definition) : [];
  // Besides the filters of runs, the line has space only for the status.
  const selects = withChoices
    .filter(({ name }) => runs.length === 0 || name === 'status')
    .slice(0, MAX_SELECTS);
  const controlNames = [
    ...runs.map(([name]) => name),
    'search',
    'order_by',
    'page_size',
    'page',
    'after',
    ...selects.map(({ name }) => name),
  ];
  const searchable = [
    ...searchFields(definition).map((field) => labelForField(field)),
    ...definition.alsoSearched.names.map((name) => labelFor(name.replace(/.*__/, ''))),
  ].map((label) => label.toLowerCase());
  return html`<form class="filters" method="get" action="${path}" role="search" aria-label="List">
      ${hiddenQuery(query, controlNames)}
      ${
        searchable.length > 0 &&
        html`<div class="field grow">
          <label for="search">Search</label>
          <input
            id="search"
            type="search"
            name="search"
            value="${firstValue(query.search)}"
            maxlength="512"
            placeholder="${searchable.join(', ')}"
          />
        </div>`
      }
      ${selects.map((field) => choiceFilter(field, firstValue(query[field.name])))}
      ${runs.map(([name, control]) => control(name, firstValue(query[name])))}
      <button>Apply</button>
      <details class="more">
        <summary>More filters and order</summary>
        ${orderSelect(fields, firstValue(query.order_by), definition)}
        <div class="field">
          <label for="page_size">Per page</label>
          <select id="page_size" name="page_size">
            <option value="">Default</option>
            ${options(
              PAGE_SIZES.map((size) => [size, size]),
              firstValue(query.page_size),
            )}
          </select>
        </div>
        ${addFilter(fields)}
      </details>
    </form>
    ${activeFilters(context, definition)}`;
}

const firstValue = (value: string | string[] | undefined): string => [value].flat()[0] ?? '';

const isFilterable = (field: Field): boolean =>
  field.filter && field.column !== null && !field.internal;

const options = (choices: readonly (readonly [string, string])[], chosen: string): Html[] =>
  choices.map(
    ([value, label]) =>
      html`<option ${attributes({ value, selected: value === chosen })}>${label}</option>`,
  );

type RunFilter = readonly [name: string, control: (name: string, value: string) => Html];

/** Returns the filters of lists of runs: kind (if the list has several), date and launching user. */
const runFilters = ({ variants }: ResourceDefinition): readonly RunFilter[] => [
  ...(variants
    ? [
        [
          'type',
          selectFilter(
            'Kind',
            variants().map(({ type, label }) => [type, label]),
          ),
        ] as const,
      ]
    : []),
  ['created__gte', inputFilter('Since', 'date')],
  ['created_by__username', inputFilter('Launched by', 'text')],
];

const selectFilter =
  (label: string, choices: readonly (readonly [string, string])[]): RunFilter[1] =>
  (name, value) =>
    html`<div class="field">
      <label for="filter-${name}">${label}</label>
      <select id="filter-${name}" name="${name}">
        <option value="">Any</option>
        ${options(choices, value)}
      </select>
    </div>`;

const inputFilter =
  (label: string, type: string): RunFilter[1] =>
  (name, value) =>
    html`<div class="field short">
      <label for="filter-${name}">${label}</label>
      <input id="filter-${name}" name="${name}" type="${type}" value="${value}" />
    </div>`;

function choiceFilter(field: Field, chosen: string): Html {
  const choices = field.choices.map(([value, label]) => [String(value), label] as const);
  const filled = choices.filter(([value]) => value !== '');
  return selectFilter(labelForField(field), filled)(field.name, chosen);
}

function orderSelect(
  fields: readonly Field[],
  chosen: string,
  definition: ResourceDefinition,
): Html {
  const defaultOrder = definition.orderBy.map(orderLabel).join(', ');
  const orders = fields
    .filter(({ kind }) => kind !== 'variables')
    .flatMap((field) => [
      [field.name, `${labelForField(field)}, ascending`] as const,
      [`-${field.name}`, `${labelForField(field)}, descending`] as const,
    ]);
  const known = chosen === '' || orders.some(([value]) => value === chosen);
  return html`<div class="field">
    <label for="order_by">Order</label>
    <select id="order_by" name="order_by">
      <option value="">${defaultOrder}</option>
      ${!known && options([[chosen, chosen]], chosen)} ${options(orders, chosen)}
    </select>
  </div>`;
}

/** Returns the label of an order, such as "Newest first". */
function orderLabel(name: string): string {
  const descending = name.startsWith('-');
  const field = name.replace(/^-/, '');
  if (field === 'id') return descending ? 'Newest first' : 'Oldest first';
  return labelFor(field.replaceAll('__', ' ')) + (descending ? ', descending' : '');
}

const addFilter = (fields: readonly Field[]): Html =>
  html`<fieldset class="add-filter">
    <legend>Add a filter</legend>
    <label class="hidden" for="filter-field">Field</label>
    <select id="filter-field" name="_field">
      <option value="">Field…</option>
      ${options(
        fields.map((field) => [field.name, labelForField(field)] as const),
        '',
      )}
    </select>
    <label class="hidden" for="filter-lookup">Comparison</label>
    <select id="filter-lookup" name="_lookup">
      ${options(LOOKUP_LABELS, '')}
    </select>
    <label class="hidden" for="filter-value">Value</label>
    <input id="filter-value" name="_value" placeholder="Value" />
  </fieldset>`;

const NEVER_FILTERS = new Set([...CONTROLS].filter((name) => name !== 'search'));

/** Returns true if the query contains a search or filters. */
export const isFiltered = (query: QueryParameters): boolean =>
  Object.keys(query).some((name) => !NEVER_FILTERS.has(name));

/** Returns the label of a filter, such as "Name contains web"; the query for an unknown field or lookup. */
function filterLabel(definition: ResourceDefinition, name: string, value: string): string {
  const [, negation = '', fieldName = '', comparison = 'exact'] =
    /^(not__)?([a-z][a-z0-9]*(?:_[a-z0-9]+)*)(?:__([a-z]+))?$/.exec(name) ?? [];
  const field = definition.field(fieldName);
  if (!field) return `${name}=${value}`;
  if (comparison === 'regex' && value === ANYTHING) {
    return `${labelForField(field)} is ${negation ? '' : 'not '}empty`;
  }
  const known = LOOKUP_LABELS.find(([lookup]) => lookup === negation + comparison);
  if (!known) return `${name}=${value}`;
  const label = comparison === 'in' ? 'is one of' : known[1];
  const choice = field.choices.find(([key]) => String(key) === value);
  return `${labelForField(field)} ${label} ${choice ? choice[1] : value}`;
}

/** Renders the active filters as links that remove them. */
function activeFilters({ path, query }: PageContext, definition: ResourceDefinition): Html | null {
  const active = queryEntries(query).filter(([name]) => !CONTROLS.has(name));
  if (active.length === 0) return null;
  const rest = Object.fromEntries(Object.entries(query).filter(([name]) => CONTROLS.has(name)));
  return html`<div class="chips" role="group" aria-label="Active filters">
    ${active.map(
      ([name, value]) =>
        html`<a class="chip" href="${path}${withQuery(query, { [name]: null, ...FIRST_PAGE })}"
          ><span class="hidden">Remove filter </span>${filterLabel(definition, name, value)}<span
            aria-hidden="true"
            >×</span
          ></a
        >`,
    )}
    ${active.length > 1 && html`<a href="${path}${withQuery(rest, FIRST_PAGE)}">Remove all filters</a>`}
  </div>`;
}

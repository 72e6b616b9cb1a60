import { isSameJson } from '../../common/exact-json.js';
import { partsOf } from '../../common/fields/text.js';
import { keysOf, isRecord, listOf } from '../../common/records.js';
import { resultOr, type FieldErrors } from '../../common/errors/errors.js';
import { Char, declareFields, Json, type Field } from '../../common/fields/field.js';
import type { PageLayout } from '../../common/resource/page-layout.js';
import {
  isWebhookServiceName,
  WEBHOOK_SERVICE_NAMES,
  webhookService,
} from '../../code-hosts/services.js';
import { messagesOf } from './form-errors.js';
import type { PageForm } from './page-forms.service.js';
import type { Item } from './value-views.js';

type Values = Readonly<Record<string, unknown>>;

const DOCUMENT = 'webhook_filters';
/** Text fields for lists of the document, by name. */
const LISTS = { filter_refs: 'refs', filter_actions: 'actions' } as const;
const NAMES = ['filter_events', ...keysOf(LISTS), 'filter_equals'] as const;

const CONDITION = declareFields({
  pointer: Char({
    label: 'JSON pointer',
    help: 'For example, /repository/full_name.',
    control: 'line',
  }),
  value: Char({ label: 'Value', help: 'A list: ["opened", "reopened"].', control: 'line' }),
});

/** Returns the fields of the filters, with check boxes for the events of the service, or of all services. */
export function filterFields(service: unknown): readonly Field[] {
  const chosen = String(service);
  const names = isWebhookServiceName(chosen) ? [chosen] : WEBHOOK_SERVICE_NAMES;
  const events = names.flatMap((name) => Object.keys(webhookService(name).events));
  return declareFields({
    filter_events: Json({
      label: 'Events',
      choices: events.map((event) => [event, event] as const),
      default: [],
      help: 'None: all events launch.',
    }),
    filter_refs: Char({
      label: 'Branches and tags',
      max: null,
      help: 'Separated by commas, for example: main, release/*. Empty: all launch.',
    }),
    filter_actions: Char({
      label: 'Actions',
      max: null,
      help: 'Such as opened, closed. Empty: all launch.',
    }),
    filter_equals: Json({
      label: 'Conditions',
      default: [],
      rows: { label: 'Condition', fields: CONDITION, secrets: [], read: (row) => ({ ...row }) },
      help: 'All conditions must match.',
    }),
  });
}

/** Returns the fields of a form, with the filter document replaced by fields for its parts. */
export const withFilterFields = (fields: readonly Field[], service: unknown): readonly Field[] =>
  fields.flatMap((field) => (field.name === DOCUMENT ? filterFields(service) : [field]));

/** Returns a layout with the filter document replaced by fields for its parts. */
export const withFilterLayout = ({ sections = {}, ...layout }: PageLayout): PageLayout => ({
  ...layout,
  sections: Object.fromEntries(
    Object.entries(sections).map(([title, names]) => [
      title,
      names.flatMap((name) => (name === DOCUMENT ? NAMES : [name])),
    ]),
  ),
});

/** Base class of forms with fields for the webhook filters. */
export abstract class FilterForm implements Omit<PageForm, 'fields'> {
  toBody(filled: Record<string, unknown>): Record<string, unknown> {
    const rest = Object.entries(filled).filter(([name]) => !NAMES.some((field) => field === name));
    const body = Object.fromEntries(rest);
    return rest.length === Object.keys(filled).length
      ? body
      : { ...body, [DOCUMENT]: filterDocumentOf(filled) };
  }

  fromObject({ [DOCUMENT]: filters }: Item): Values {
    return filterValues(filters);
  }

  errorsIn({ [DOCUMENT]: filterErrors, ...errors }: FieldErrors): FieldErrors {
    const byField: Record<string, string[]> = {};
    for (const text of messagesOf(filterErrors)) (byField[fieldOf(text)] ??= []).push(text);
    return { ...errors, ...byField };
  }
}

/** Returns the field values of a filter document. */
export function filterValues(filters: unknown): Values {
  if (!isRecord(filters)) return {};
  return {
    filter_events: listOf(filters.events),
    ...Object.fromEntries(
      Object.entries(LISTS).map(([name, key]) => [name, namesText(listOf(filters[key]))]),
    ),
    filter_equals: Object.entries(isRecord(filters.equals) ? filters.equals : {}).map(
      ([pointer, value]) => ({ pointer, value: textOf(value) }),
    ),
  };
}

function filterDocumentOf(filled: Values): Record<string, unknown> {
  const lists: (readonly [string, readonly unknown[]])[] = [
    ['events', listOf(filled.filter_events)],
    ...Object.entries(LISTS).map(([name, key]) => [key, namesIn(filled[name])] as const),
  ];
  const equals = listOf(filled.filter_equals)
    .filter(isRecord)
    .map(({ pointer, value }) => [String(pointer ?? ''), parsed(String(value ?? ''))] as const);
  return {
    ...Object.fromEntries(lists.filter(([, entries]) => entries.length > 0)),
    ...(equals.length > 0 ? { equals: Object.fromEntries(equals) } : {}),
  };
}

/** Returns the names in a text: separated by commas, or a JSON list. */
function namesIn(entered: unknown): readonly unknown[] {
  const text = String(entered ?? '');
  const value = parsed(text);
  return Array.isArray(value) ? value : partsOf(text, ',');
}

/** Returns the text that `namesIn` reads the names from. A git ref can contain a comma. */
function namesText(names: readonly unknown[]): string {
  const text = names.join(', ');
  return isSameJson(namesIn(text), names) ? text : JSON.stringify(names);
}

/** Parses JSON, except objects and inexact numbers; any other text remains text. */
function parsed(text: string): unknown {
  const value = resultOr((): unknown => JSON.parse(text), text);
  const isExact = typeof value !== 'number' || String(value) === text;
  return isRecord(value) || !isExact ? text : value;
}

/** Returns the text that `parsed` parses to the value. */
const textOf = (value: unknown): string =>
  typeof value === 'string' && parsed(value) === value ? value : JSON.stringify(value);

function fieldOf(error: string): (typeof NAMES)[number] {
  if (error.includes('"refs"')) return 'filter_refs';
  if (error.includes('"actions"')) return 'filter_actions';
  return /"events"|no event/.test(error) ? 'filter_events' : 'filter_equals';
}

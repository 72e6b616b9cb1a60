import { exactJson } from '../../common/exact-json.js';
import type { Field } from '../../common/fields/field.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import * as json from '../../common/fields/json-schema.js';
import { labelOf } from '../../common/fields/label.js';
import { html, type Html } from './html.js';
import { linkOf } from './json-view.js';
import { isRecord, memberOf } from '../../common/records.js';

/** A representation after JSON serialization: dates are text. */
export type Item = Readonly<Record<string, unknown>>;

/** Matches identifiers that the server generated. */
export const GENERATED = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the name of an object, or another text that names it; without any, its type and id. */
export function objectTitleOf(item: Item): string {
  const template = memberOf(memberOf(item.summary_fields, 'unified_job_template'), 'name');
  const { name, username, hostname, identifier, subject, description } = item;
  const alias = GENERATED.test(String(identifier)) ? template : identifier;
  const titles = [name, username, hostname, alias, subject, description];
  for (const value of titles) {
    if (typeof value === 'string' && value.trim() !== '') return shorten(value, 100);
  }
  const type = typeof item.type === 'string' ? labelOf(item.type) : 'Object';
  return `${type} ${String(item.id ?? '')}`.trim();
}

export const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

const TONES: Record<string, string> = {
  successful: 'good',
  ok: 'good',
  accepted: 'good',
  failed: 'bad',
  missing: 'bad',
  error: 'bad',
  rejected: 'bad',
  running: 'busy',
  waiting: 'busy',
  pending: 'busy',
};

/** Returns the tone of a status: good, bad, busy or plain. */
export const toneOf = (status: string): string => TONES[status] ?? 'plain';

export const statusBadge = (status: string, label = labelOf(status)): Html =>
  html`<span class="badge ${toneOf(status)}">${label}</span>`;

const NONE = html`<span class="none" role="img" aria-label="none">–</span>`;

/** Formats a duration: `2.5 s`, `4 min 5 s`, `3 h 20 min`. */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Renders a value: references by name, dates in readable form, documents as short text. */
export function valueView(
  name: string,
  item: Item,
  definition: ResourceDefinition | undefined,
): Html {
  const field = definition?.field(name);
  const value = fieldValue(name, item, field);
  if (value === null || value === undefined || value === '') {
    return NONE;
  }
  if (typeof value === 'boolean') return html`${value ? 'Yes' : 'No'}`;
  if (typeof value === 'number' && (field?.target || isLinked(name, item))) {
    return reference(name, value, item, definition);
  }
  if (isRecord(value) && typeof value.name === 'string') return named(value, value.name);
  if (name === 'elapsed' && typeof value === 'number') {
    return html`<span class="length">${durationText(value)}</span>`;
  }
  if (typeof value === 'object') {
    if (Object.keys(value).length === 0) return NONE;
    return html`<code>${shorten(exactJson(value), 160)}</code>`;
  }
  if (typeof value !== 'string') return html`${choiceLabel(field, value)}`;
  return isInstant(name, definition) ? timeView(value) : textView(name, value, field);
}

/** Returns the value of a field; a hidden reference is only in the summaries. */
const fieldValue = (name: string, item: Item, field: Field | undefined): unknown =>
  field?.hidden === true ? memberOf(memberOf(item.summary_fields, name), 'id') : item[name];

/** Returns true if the field, or the schema of an additional member, declares an instant. */
export const isInstant = (name: string, definition: ResourceDefinition | undefined): boolean =>
  definition?.field(name)?.kind === 'datetime' ||
  definition?.shows.fields?.[name]?.format === json.INSTANT.format;

function textView(name: string, value: string, field: Field | undefined): Html {
  if (field?.kind === 'variables') return html`<code class="lines">${shorten(value, 600)}</code>`;
  const text = choiceLabel(field, value);
  if (name === 'status') return statusBadge(value, field ? text : labelOf(value));
  if (name === 'type') return html`${labelOf(value)}`;
  const link = linkOf(value);
  if (link) return html`<a href="${link}" rel="noopener noreferrer">${shorten(text, 80)}</a>`;
  return html`${shorten(text, 200)}`;
}

/** Returns the label of a choice; any other value as text. */
function choiceLabel(field: Field | undefined, value: unknown): string {
  const choice = field?.choices.find(([key]) => key === value);
  return choice ? choice[1] : String(value);
}

/** Renders a nested object, such as the user who launched a run. */
const named = ({ url, type }: Item, name: string): Html => {
  const kind = typeof type === 'string' && html` <small>${labelOf(type)}</small>`;
  // The object may come from the JSON of a user, so external URLs are not linked.
  const isLocal = typeof url === 'string' && url.startsWith('/api/');
  return isLocal ? html`<a href="${url}">${name}</a>${kind}` : html`${name}${kind}`;
};

/** Returns true for a member with a related link and a summary. */
const isLinked = (name: string, { related, summary_fields: summaries }: Item): boolean =>
  isRecord(related) && typeof related[name] === 'string' && isRecord(memberOf(summaries, name));

/** Returns true if a representation contains a summary of a reference under the name of the field. */
const summarizes = (definition: ResourceDefinition | undefined, name: string): boolean =>
  definition?.field(name)?.target !== undefined && !(name in definition.summaryKeys);

function reference(
  name: string,
  id: number,
  item: Item,
  definition: ResourceDefinition | undefined,
): Html {
  const summary = memberOf(item.summary_fields, name);
  const target = definition?.field(name)?.target?.();
  // The summary is missing if the caller may not read the object.
  if (summary === undefined && isRecord(item.summary_fields) && summarizes(definition, name))
    return html`#${id}`;
  const title = isRecord(summary) ? objectTitleOf({ type: target?.type, ...summary }) : `#${id}`;
  // The URL of an object with variants depends on its type, so only the related link is correct.
  const related = isRecord(item.related) ? item.related[name] : undefined;
  const targetUrl = target?.variants ? undefined : target?.url(id);
  const url = related === undefined ? targetUrl : related;
  return typeof url === 'string' ? html`<a href="${url}">${title}</a>` : html`${title}`;
}

/** Renders an instant in UTC with seconds; the attribute has the exact value. */
export const timeView = (value: string): Html => {
  const instant = new Date(value);
  if (Number.isNaN(instant.getTime())) return html`${value}`;
  const shown = instant.toISOString().replace('T', ' ').slice(0, 19);
  return html`<time datetime="${value}">${shown} UTC</time>`;
};

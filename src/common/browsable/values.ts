import type { Field } from '../fields/field.js';
import { html, words, type Html } from './html.js';
import { linkOf } from './json-view.js';

/** An object of a representation, after JSON: dates are text. */
export type Item = Readonly<Record<string, unknown>>;

export const isItem = (value: unknown): value is Item =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** What people call an object: its name, or what stands for it. */
export function titleOf(item: Item): string {
  for (const key of ['name', 'username', 'hostname', 'subject', 'description']) {
    const value = item[key];
    if (typeof value === 'string' && value.trim() !== '') return shorten(value, 100);
  }
  const type = typeof item.type === 'string' ? words(item.type) : 'Object';
  return `${type} ${String(item.id ?? '')}`.trim();
}

export const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

const TONES: Record<string, string> = {
  successful: 'good',
  ok: 'good',
  accepted: 'good',
  failed: 'bad',
  error: 'bad',
  rejected: 'bad',
  running: 'busy',
  waiting: 'busy',
  pending: 'busy',
};

/** One value for people: references by name, dates readable, documents as short text. */
export function valueView(name: string, item: Item, field: Field | undefined): Html {
  const value = item[name];
  if (value === null || value === undefined || value === '') {
    return html`<span class="none" aria-label="none">–</span>`;
  }
  if (typeof value === 'boolean') return html`${value ? 'Yes' : 'No'}`;
  if (field?.target && typeof value === 'number') return reference(name, value, item, field);
  if (field?.kind === 'datetime' && typeof value === 'string') return timeView(value);
  if (name === 'status' && typeof value === 'string') {
    return html`<span class="badge ${TONES[value] ?? 'plain'}">${words(value)}</span>`;
  }
  if (typeof value === 'object') {
    return html`<code>${shorten(JSON.stringify(value), 120)}</code>`;
  }
  const label = field?.choices.find(([choice]) => choice === value)?.[1];
  const text = label ?? String(value);
  const link = typeof value === 'string' ? linkOf(value) : null;
  if (link) return html`<a href="${link}" rel="noopener noreferrer">${shorten(text, 80)}</a>`;
  return html`${shorten(text, 200)}`;
}

function reference(name: string, id: number, item: Item, field: Field): Html {
  const summaries = isItem(item.summary_fields) ? item.summary_fields : {};
  const summary = summaries[name];
  const title = isItem(summary) ? titleOf(summary) : `#${id}`;
  return html`<a href="${field.target!().url(id)}">${title}</a>`;
}

/** An instant to the second, in UTC; the exact text stays in the attribute. */
const timeView = (value: string): Html => {
  const instant = new Date(value);
  if (Number.isNaN(instant.getTime())) return html`${value}`;
  const shown = instant.toISOString().replace('T', ' ').slice(0, 19);
  return html`<time datetime="${value}">${shown} UTC</time>`;
};

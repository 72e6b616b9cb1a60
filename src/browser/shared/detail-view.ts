import type { Field } from '../../common/fields/field.js';
import { isWritable } from '../../common/fields/reads.decorator.js';
import { ENCRYPTED } from '../../common/fields/text.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { memberOf, isRecord } from '../../common/records.js';
import { html, type Html } from './html.js';
import { indentedJson, linkOf, jsonView } from './json-view.js';
import { folded } from './layout.js';
import { relatedLinks, type RelatedParts } from './related.js';
import { inSections } from './sections.js';
import { valueView, type Item } from './value-views.js';
import { labelOf } from '../../common/fields/label.js';
import { labelIn, labelForField } from './labels.js';

/** Keys that other parts of the page show. */
const SHOWN_ELSEWHERE = new Set(['url', 'related', 'summary_fields']);
/** Keys that the heading shows, or that only developers use. */
const NO_DETAILS = new Set(['id', 'type', 'guid', 'named_url', 'name', 'status', 'description']);
/** Keys that every object has; the page shows them last. */
const COMMON = new Set(['id', 'type', 'created', 'modified']);

/** Renders the fields of an object that differ from their defaults, in the sections of the layout. */
export function detailView(item: Item, definition: ResourceDefinition): Html {
  const names = shownNames(item).filter(
    (name) =>
      !NO_DETAILS.has(name) &&
      item[name] !== ENCRYPTED &&
      !isUnset(item[name], definition.field(name)),
  );
  if (names.length === 0) return html``;
  return html`<section id="object-fields" data-refresh aria-labelledby="details-title" class="card">
    <h2 id="details-title">Details</h2>
    ${fieldSections(names, item, definition)}
  </section>`;
}

/** Renders all fields and related links of an object, for developers. */
export function apiView(item: Item, definition: ResourceDefinition, related: RelatedParts): Html {
  const names = shownNames(item);
  const isSet = (name: string): boolean => !isUnset(item[name], definition.field(name));
  const unset = names.filter((name) => !isSet(name));
  return html`<div class="columns">
    ${relatedLinks(item, definition, related)}
    <section id="all-fields" data-refresh aria-labelledby="fields-title">
      <h3 id="fields-title">Fields</h3>
      ${fieldList(names.filter(isSet), item, definition)}
      ${
        unset.length > 0 &&
        folded(
          unset.length === 1 ? 'Show 1 default' : `Show ${unset.length} defaults`,
          fieldList(unset, item, definition),
          { kind: 'plain' },
        )
      }
    </section>
  </div>`;
}

/** Returns the names of the fields of an object; fields that every object has come last. */
function shownNames(item: Item): string[] {
  const isLink = (name: string): boolean =>
    typeof item[name] === 'string' && item[name] === memberOf(item.related, name);
  const shown = Object.keys(item).filter((name) => !SHOWN_ELSEWHERE.has(name) && !isLink(name));
  return [
    ...shown.filter((name) => !COMMON.has(name)),
    ...shown.filter((name) => COMMON.has(name)),
  ];
}

const fieldSections = (
  names: readonly string[],
  item: Item,
  definition: ResourceDefinition,
): Html[] =>
  inSections(definition.pages, names, (name) => name).map(({ title, parts }) => {
    const list = fieldList(parts, item, definition);
    return definition.pages.folded?.includes(title)
      ? folded(title, list, { kind: 'plain section' })
      : titledList(title, list);
  });

const titledList = (title: string, list: Html): Html =>
  html`${title !== '' && html`<h3>${title}</h3>`}${list}`;

const fieldList = (names: readonly string[], item: Item, definition: ResourceDefinition): Html =>
  html`<dl class="fields">
    ${names.map((name) => {
      const field = definition.field(name);
      const long = isUnset(item[name], field) ? null : longView(item[name], field);
      return html`<div class="${long ? 'span' : ''}">
        <dt>${labelIn(definition, name)}</dt>
        <dd>${long ?? valueView(name, item, definition)}</dd>
      </div>`;
    })}
  </dl>`;

/** Returns true for unset and default values, which the page collapses. */
function isUnset(value: unknown, field: Field | undefined): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true;
  if (typeof value === 'object') return Object.keys(value).length === 0;
  return field !== undefined && value !== true && isWritable(field) && value === field.default;
}

/** Renders a document that contains only links, such as the API root, as a directory. */
export function directoryView(body: Item): Html | null {
  const links = Object.entries(body).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && linkOf(entry[1]) !== null,
  );
  if (links.length < 2 || links.length < Object.keys(body).length) return null;
  return html`<nav aria-label="Contents">
    <ul class="directory">
      ${links.map(
        ([name, path]) =>
          html`<li>
            <a href="${path}"><strong>${labelOf(name)}</strong><small>${path}</small></a>
          </li>`,
      )}
    </ul>
  </nav>`;
}

/** Maximum size of a value that is shown expanded. */
const SHORT = { lines: 4, characters: 240 };
/** Maximum number of characters shown of a field; the JSON of the response is complete. */
const MAX_CHARACTERS = 20_000;

/**
 * Renders documents and long texts, collapsed unless they are short; returns null for other values.
 */
function longView(value: unknown, field: Field | undefined): Html | null {
  if (typeof value === 'object' && value !== null) {
    // A nested object with a name, such as the user who launched a run, is shown by its name.
    if (isRecord(value) && typeof value.name === 'string') return null;
    const text = indentedJson(value);
    if (text.length > MAX_CHARACTERS) return foldedText(text);
    const document = jsonView(value, field ? labelForField(field) : 'Document');
    if (isShort(text)) return document;
    const size = Object.keys(value).length;
    const [unit, units] = Array.isArray(value) ? ['entry', 'entries'] : ['field', 'fields'];
    return folded(`${size} ${size === 1 ? unit : units}`, document, { kind: 'plain' });
  }
  if (typeof value !== 'string') return null;
  if (isShort(value)) {
    const isCode = field?.kind === 'variables' || value.includes('\n');
    return isCode ? html`<code class="lines">${value}</code>` : null;
  }
  return foldedText(value);
}

function foldedText(text: string): Html {
  const rest = text.length - MAX_CHARACTERS;
  const lines = text.split('\n').length;
  return folded(
    lines === 1 ? `${text.length} characters` : `${lines} lines`,
    html`<pre tabindex="0">${text.slice(0, MAX_CHARACTERS)}</pre>
      ${rest > 0 && html`<p class="hint">${rest} more characters are in the JSON below.</p>`}`,
    { kind: 'plain' },
  );
}

const isShort = (text: string): boolean =>
  text.length <= SHORT.characters && text.split('\n').length <= SHORT.lines;

import type { ResourceDefinition } from '../resource/define-resource.js';
import { html, type Html } from './html.js';
import { linkOf } from './json-view.js';
import { folded } from './layout.js';
import { relatedLinks, type RelatedParts } from './related.js';
import { valueView, type Item } from './values.js';
import { labelOf } from '../fields/label.js';

/** Keys of every object that a page shows in other places. */
const ELSEWHERE = new Set(['url', 'related', 'summary_fields']);
/** Shown last: the same for every object, and seldom what a person looks for. */
const BOOKKEEPING = new Set(['id', 'type', 'created', 'modified']);

/** The fields of one object, and the links that lead on from it. */
export function detailView(
  item: Item,
  definition: ResourceDefinition,
  related: RelatedParts,
): Html {
  const shown = Object.keys(item).filter((name) => !ELSEWHERE.has(name));
  const names = [
    ...shown.filter((name) => !BOOKKEEPING.has(name)),
    ...shown.filter((name) => BOOKKEEPING.has(name)),
  ];
  const empty = names.filter((name) => isEmpty(item[name]));
  return html`<div class="columns">
    <section id="object-fields" data-refresh aria-labelledby="fields-title" class="card">
      <h2 id="fields-title">Fields</h2>
      ${fieldList(
        names.filter((name) => !isEmpty(item[name])),
        item,
        definition,
      )}
      ${
        empty.length > 0 &&
        folded(
          empty.length === 1 ? 'One field is empty' : `${empty.length} fields are empty`,
          fieldList(empty, item, definition),
          { kind: 'plain' },
        )
      }
    </section>
    ${relatedLinks(item, related)}
  </div>`;
}

const fieldList = (names: readonly string[], item: Item, definition: ResourceDefinition): Html =>
  html`<dl class="fields">
    ${names.map((name) => {
      const field = definition.field(name);
      const isLong =
        field?.kind === 'variables' || (field?.kind === 'json' && !isEmpty(item[name]));
      return html`<div class="${isLong ? 'span' : ''}">
        <dt>${field?.label ?? labelOf(name)}</dt>
        <dd>${valueView(name, item, field)}</dd>
      </div>`;
    })}
  </dl>`;

/** What tells nothing is folded away: most objects use few of their fields. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** A document that is nothing but links, such as the root: shown as a directory. */
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

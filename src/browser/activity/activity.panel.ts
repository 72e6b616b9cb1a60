import { Injectable } from '@nestjs/common';
import { labelOf } from '../../common/fields/label.js';
import { uncapitalized, labelFor } from '../shared/labels.js';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { scrollTable } from '../shared/layout.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { shorten, timeView, type Item } from '../shared/value-views.js';
import { isRecord, listOf, memberOf } from '../../common/records.js';

/** Maximum number of changed fields in a table row; the page of the entry shows all fields. */
const MAX_FIELDS = 6;
const MAX_NAME = 80;

/** Renders the audit trail as sentences with the time, the user, the operation and the objects. */
@Injectable()
@PagePanel('activity_stream_rows')
export class ActivityPanel implements Panel<{ results?: unknown }> {
  render({ object }: PanelContext<{ results?: unknown }>): Html | null {
    const entries = listOf(object.results).filter(isRecord);
    if (entries.length === 0) return null;
    return scrollTable(
      'Activity',
      ['Who', 'What', 'When'],
      entries.map(
        (entry) =>
          html`<tr>
            <th scope="row">${actorOf(entry)}</th>
            <td class="change">${sentenceFor(entry)}</td>
            <td><a href="${String(entry.url)}">${timeView(String(entry.timestamp))}</a></td>
          </tr>`,
      ),
    );
  }
}

/** Returns the user of an entry; entries of the controller have none, and some users are hidden. */
function actorOf({ summary_fields: summary, related }: Item): HtmlValue {
  const actor = memberOf(summary, 'actor');
  const name = memberOf(actor, 'username');
  if (typeof name !== 'string') return actor === undefined ? 'The controller' : 'A user';
  const url = memberOf(related, 'actor');
  return typeof url === 'string' ? html`<a href="${url}">${name}</a>` : name;
}

/** Renders the rest of a sentence whose subject is the user of the entry. */
function sentenceFor(entry: Item): Html {
  const { operation, object_association: association, changes } = entry;
  const [first, second] = [objectOf(entry, 'object1'), objectOf(entry, 'object2')];
  const isAdded = operation === 'associate';
  if (isAdded || operation === 'disassociate') {
    const relationship = String(memberOf(changes, 'relationship') ?? association);
    if (association !== 'role') {
      const list = html` <small>${labelOf(relationship)}</small>`;
      return isAdded
        ? html`added ${second} to ${first}${list}`
        : html`removed ${second} from ${first}${list}`;
    }
    const role = labelOf((relationship.split('.')[1] ?? '').replace(/_role$/, ''));
    return isAdded
      ? html`granted ${first} the role ${role} of ${second}`
      : html`revoked the role ${role} of ${second} from ${first}`;
  }
  if (operation === 'update') return html`changed ${first}${fieldsOf(changes)}`;
  return html`${operation === 'delete' ? 'deleted' : 'created'} ${first}`;
}

/**
 * Renders the kind of an object, and its name if the caller may read it. Links existing objects.
 */
function objectOf(entry: Item, side: 'object1' | 'object2'): Html {
  const { operation, related, summary_fields: summary } = entry;
  const type = String(entry[side]);
  // Two objects of one kind share a list; `object2` is the second entry.
  const index = side === 'object2' && entry.object1 === type ? 1 : 0;
  const url = listOf(memberOf(related, type))[index];
  const named = listOf(memberOf(summary, type)).find(
    (item) => typeof url === 'string' && url.endsWith(`/${String(memberOf(item, 'id'))}/`),
  );
  const kind = uncapitalized(labelFor(type));
  const name = memberOf(named, 'name');
  if (typeof name !== 'string' || name === '') return html`${article(kind)} ${kind}`;
  const shown = shorten(name, MAX_NAME);
  return typeof url === 'string' && operation !== 'delete'
    ? html`${kind} <a href="${url}">${shown}</a>`
    : html`${kind} <strong>${shown}</strong>`;
}

const article = (word: string): string => (/^[aeiou]/.test(word) ? 'an' : 'a');

/** Renders the names of the first changed fields; only the page of the entry shows values. */
function fieldsOf(changes: unknown): HtmlValue {
  const names = isRecord(changes) ? Object.keys(changes) : [];
  if (names.length === 0) return null;
  const shown = names.slice(0, MAX_FIELDS).map((name) => uncapitalized(labelFor(name)));
  const more = names.length - shown.length;
  return html`: ${shown.join(', ')}${more > 0 && ` and ${more} more`}`;
}

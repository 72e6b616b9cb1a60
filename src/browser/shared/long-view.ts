import type { Field } from '../../common/fields/field.js';
import { isRecord } from '../../common/records.js';
import { html, type Html } from './html.js';
import { jsonView } from './json-view.js';
import { folded } from './layout.js';
import { labelForField } from './labels.js';

/** Maximum size of a value that is shown expanded. */
const SHORT = { lines: 4, characters: 240 };
/** Maximum number of characters shown of a field; the JSON of the response is complete. */
const MAX_CHARACTERS = 20_000;

/**
 * Renders documents and long texts, collapsed unless they are short; returns null for other values.
 */
export function longView(value: unknown, field: Field | undefined): Html | null {
  if (typeof value === 'object' && value !== null) {
    // A nested object with a name, such as the user who launched a run, is shown by its name.
    if (isRecord(value) && typeof value.name === 'string') return null;
    const text = JSON.stringify(value, null, 2);
    if (text.length > MAX_CHARACTERS) return foldedText(text);
    const size = Object.keys(value).length;
    const unit = Array.isArray(value) ? 'entry' : 'field';
    const units = unit === 'entry' ? 'entries' : 'fields';
    return isShort(text)
      ? jsonView(value, field ? labelForField(field) : 'Document')
      : folded(
          `${size} ${size === 1 ? unit : units}`,
          jsonView(value, field ? labelForField(field) : 'Document'),
          {
            kind: 'plain',
          },
        );
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

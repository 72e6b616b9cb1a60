import { randomBytes } from 'node:crypto';
import { isMissing, jinjaTextOf, requireLength, requirePrintable } from './jinja-values.js';
import type { EngineValue } from './sandbox-task.js';
import { jsonOf } from './text-filters.js';

/**
 * Values of a template for a JSON document. During rendering, a marker replaces each value, so that
 * no value can be mistaken for a part of the document.
 */
export class JsonValues {
  /** Random marker that templates and values cannot contain. */
  private readonly marker = `\u{E000}${randomBytes(12).toString('hex')}\u{E001}`;
  private readonly values: EngineValue[] = [];

  /** Stores a value and returns its marker. */
  add(value: EngineValue): string {
    return `${this.marker}${this.values.push(value) - 1}${this.marker}`;
  }

  /**
   * Replaces the markers with their values: in `text` as Jinja prints them; in `json` escaped inside
   * strings of the document, and as JSON elsewhere.
   */
  fill(rendered: string): { text: string; json: string } {
    let text = '';
    let json = '';
    let inString = false;
    rendered.split(this.marker).forEach((part, index) => {
      const value = index % 2 === 1 ? this.values[Number(part)] : undefined;
      if (value && inString) {
        text += jinjaTextOf(value);
        json += JSON.stringify(jinjaTextOf(value)).slice(1, -1);
      } else {
        const written = value ? documentOf(value) : part;
        text += value ? jinjaTextOf(value) : part;
        json += written;
        inString = endsInString(written, inString);
      }
      requireLength(text.length);
    });
    return { text, json };
  }
}

/** Returns texts unchanged, because they can be parts of the document, and other values as JSON. */
function documentOf(value: EngineValue): string {
  requirePrintable(value);
  return typeof value.value === 'string' || isMissing(value) ? jinjaTextOf(value) : jsonOf(value);
}

/** Returns true if the document is inside a string after this part of its text. */
function endsInString(text: string, isOpen: boolean): boolean {
  const quotes = text.replace(/\\[^]/g, '').match(/"/g)?.length ?? 0;
  return isOpen !== (quotes % 2 === 1);
}

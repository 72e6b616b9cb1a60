import { escapeHtml } from '../../common/escape-html.js';
import { itemAt } from '../../common/invariants.js';

/**
 * Terminal escape sequences: colors, cursor movement, and the markers that the runner hides in
 * them.
 */
const ESCAPE = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;
const COLOUR = /\u001B\[([0-9;]*)m/g;

/** Returns the output without escape sequences. */
export const plainText = (text: string): string => text.replace(ESCAPE, '').replaceAll('\r', '');

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

interface Style {
  colour: string | null;
  isBold: boolean;
}

/** Returns the output as HTML: escaped text, and colors as `<span class="ansi-red ansi-bold">`. */
export const htmlText = (text: string): string => htmlLines(text).join('\n');

/**
 * Returns the output as HTML lines; a color that continues over a line end is set again in the next
 * line.
 */
export function htmlLines(text: string): string[] {
  let style: Style = { colour: null, isBold: false };
  const lines = [''];
  let position = 0;
  const add = (part: string): void => {
    const classes = classesOf(style);
    for (const [index, line] of plainText(part).split('\n').entries()) {
      if (index > 0) lines.push('');
      const escaped = escapeHtml(line);
      const shown = escaped === '' || classes === '' ? escaped : coloured(escaped, classes);
      lines[lines.length - 1] += shown;
    }
  };
  for (const match of text.matchAll(COLOUR)) {
    add(text.slice(position, match.index));
    style = applied(style, match[1] ?? '');
    position = match.index + match[0].length;
  }
  add(text.slice(position));
  return lines;
}

const coloured = (escaped: string, classes: string): string =>
  `<span class="${classes}">${escaped}</span>`;

function applied(style: Style, codes: string): Style {
  const next = { ...style };
  for (const text of codes.split(';')) {
    const code = Number(text);
    if (code === 0) Object.assign(next, { colour: null, isBold: false });
    else if (code === 1) next.isBold = true;
    else if (code === 22) next.isBold = false;
    else if (code === 39) next.colour = null;
    else if (code >= 30 && code <= 37) next.colour = itemAt(NAMES, code - 30);
    else if (code >= 90 && code <= 97) next.colour = `bright-${itemAt(NAMES, code - 90)}`;
  }
  return next;
}

const classesOf = ({ colour, isBold }: Style): string =>
  [...(colour === null ? [] : [`ansi-${colour}`]), ...(isBold ? ['ansi-bold'] : [])].join(' ');

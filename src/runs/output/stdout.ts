import { escapeHtml } from '../../common/escape-html.js';
import { itemAt } from '../../common/invariants.js';

/**
 * Terminal escape sequences: colors, cursor movement, and the markers that the runner hides in
 * them.
 */
const ESCAPE = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;
const COLOR = /\u001B\[([0-9;]*)m/g;

/** Returns the output without escape sequences and carriage returns. */
export const plainText = (text: string): string => text.replace(ESCAPE, '').replaceAll('\r', '');

const COLOR_NAMES = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
] as const;

interface Style {
  color: string | null;
  isBold: boolean;
}

/** Returns the output as HTML: escaped text, and colors as `<span class="ansi-red ansi-bold">`. */
export const htmlText = (text: string): string => htmlLines(text).join('\n');

/**
 * Returns the output as HTML lines; a color that continues over a line end is set again in the next
 * line.
 */
export function htmlLines(text: string): string[] {
  let style: Style = { color: null, isBold: false };
  const lines = [''];
  let position = 0;
  const add = (part: string): void => {
    const classes = classesOf(style);
    for (const [index, line] of plainText(part).split('\n').entries()) {
      if (index > 0) lines.push('');
      const escaped = escapeHtml(line);
      lines[lines.length - 1] +=
        escaped === '' || classes === '' ? escaped : `<span class="${classes}">${escaped}</span>`;
    }
  };
  for (const match of text.matchAll(COLOR)) {
    add(text.slice(position, match.index));
    style = applyCodes(style, match[1] ?? '');
    position = match.index + match[0].length;
  }
  add(text.slice(position));
  return lines;
}

function applyCodes(style: Style, codes: string): Style {
  const next = { ...style };
  const remaining = codes.split(';').map(Number);
  for (let code = remaining.shift(); code !== undefined; code = remaining.shift()) {
    if (code === 38 || code === 48) {
      const color = readColor(remaining);
      if (code === 38) next.color = color;
    } else if (code === 0) Object.assign(next, { color: null, isBold: false });
    else if (code === 1) next.isBold = true;
    else if (code === 22) next.isBold = false;
    else if (code === 39) next.color = null;
    else if (code >= 30 && code <= 37) next.color = itemAt(COLOR_NAMES, code - 30);
    else if (code >= 90 && code <= 97) next.color = `bright-${itemAt(COLOR_NAMES, code - 90)}`;
  }
  return next;
}

/** Reads the codes after 38 or 48: one of 256 colors, or an RGB color, replaced by the nearest of the 256. */
function readColor(codes: number[]): string | null {
  const kind = codes.shift();
  if (kind === 2) {
    const [red = 0, green = 0, blue = 0] = codes.splice(0, 3).map(stepOf);
    return String(16 + 36 * red + 6 * green + blue);
  }
  const index = kind === 5 ? codes.shift() : undefined;
  if (index === undefined || !(index >= 0 && index < 256)) return null;
  if (index >= 16) return String(index);
  return index < 8 ? itemAt(COLOR_NAMES, index) : `bright-${itemAt(COLOR_NAMES, index - 8)}`;
}

/** Returns the step (0 to 5) in the cube of 216 colors that is nearest to a level from 0 to 255. */
const stepOf = (level: number): number =>
  level < 48 ? 0 : Math.min(5, Math.max(1, Math.floor((level - 35) / 40)));

const classesOf = ({ color, isBold }: Style): string =>
  [...(color === null ? [] : [`ansi-${color}`]), ...(isBold ? ['ansi-bold'] : [])].join(' ');

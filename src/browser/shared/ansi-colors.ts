/** Levels of red, green and blue in the terminal colors 16 to 231. */
const LEVELS = [0, 95, 135, 175, 215, 255];
/** Background of outputs in both themes. */
const OUTPUT = [0x12, 0x16, 0x1d];
/** Minimum contrast between text and background (WCAG 2.2, AA). */
const MIN_CONTRAST = 4.5;

type Rgb = readonly number[];

/**
 * Returns a style sheet with the exact terminal colors 16 to 255. Colors that are too dark for the
 * output get a white or black background.
 */
export const ansiColors = (): string =>
  Array.from({ length: 240 }, (_, index) => {
    const color = rgbOf(index);
    const background = [OUTPUT, [255, 255, 255], [0, 0, 0]].find(
      (candidate) => contrast(color, candidate) >= MIN_CONTRAST,
    );
    const suffix = background && background !== OUTPUT ? `;background:${hex(background)}` : '';
    return `.ansi-${index + 16}{color:${hex(color)}${suffix}}\n`;
  }).join('');

/** Returns the color at an index, counted from color 16: a cube of 216 colors, then 24 grays. */
function rgbOf(index: number): Rgb {
  if (index >= 216) return Array<number>(3).fill(8 + (index - 216) * 10);
  return [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map(
    (step) => LEVELS[step] ?? 0,
  );
}

const hex = (color: Rgb): string =>
  `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

function contrast(first: Rgb, second: Rgb): number {
  const [low = 0, high = 0] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) =>
    part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

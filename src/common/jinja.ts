import * as jinja from '@huggingface/jinja';

/**
 * Returns the template engine as a caller declares the parts of it that the caller uses. The
 * declarations of the package import without file extensions and resolve to nothing under `nodenext`.
 */
export const jinjaAs = <Engine>(): Engine => jinja as Engine;

const RAW_BLOCK = /\{%(-?)\+?\s*raw\s*(-?)%\}([^]*?)\{%(-?)\+?\s*endraw\s*(-?)%\}/g;

/**
 * Returns a template without `raw` blocks, which the engine does not know: a text literal in an
 * expression prints the same.
 */
export function withoutRawBlocks(template: string): string {
  const literal = (...[, before, first, body, last, after]: string[]): string => {
    const start = first ? body?.trimStart() : body;
    const text = (last ? start?.trimEnd() : start) ?? '';
    return `{{${before} "${text.replace(/[\\"]/g, '\\$&')}" ${after}}}`;
  };
  return template.replace(RAW_BLOCK, literal);
}

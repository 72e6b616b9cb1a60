import * as jinja from '@huggingface/jinja';

/**
 * Returns the template engine with the type that the caller declares. The package's own declarations
 * import without file extensions, which do not resolve under `nodenext`.
 */
export const jinjaAs = <Engine>(): Engine => jinja as Engine;

const RAW_BLOCK = /\{%(-?)\+?\s*raw\s*(-?)%\}([^]*?)\{%(-?)\+?\s*endraw\s*(-?)%\}/g;

/**
 * Replaces `raw` blocks, which the engine does not support, by expressions with a text literal, which
 * print the same text.
 */
export function withoutRawBlocks(template: string): string {
  const literal = (...[, before, first, body, last, after]: string[]): string => {
    const start = first ? body?.trimStart() : body;
    const text = (last ? start?.trimEnd() : start) ?? '';
    return `{{${before} "${text.replace(/[\\"]/g, '\\$&')}" ${after}}}`;
  };
  return template.replace(RAW_BLOCK, literal);
}

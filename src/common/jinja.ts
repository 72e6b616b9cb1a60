import * as jinja from '@huggingface/jinja';

/**
 * Returns the template engine as a caller declares the parts of it that the caller uses. The
 * declarations of the package import without file extensions and resolve to nothing under `nodenext`.
 */
export const jinjaAs = <Engine>(): Engine => jinja as Engine;

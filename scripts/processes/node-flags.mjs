/**
 * Flags of Node for each program. A worker makes little garbage; a small young generation saves it a
 * sixth of its memory.
 *
 * @type {{ api: readonly string[], worker: readonly string[] }}
 */
export const NODE_FLAGS = { api: [], worker: ['--max-semi-space-size=4'] };

import { messageOf } from '../../common/errors/errors.js';
import { Thread, threadFile } from '../../common/thread.js';
import { ImportError } from './delivery.js';
import { fromPython } from './python-pattern.js';

/** A compiled pattern for host names, or the reason why it is invalid. */
export type NamePattern =
  | { readonly fault: null; readonly source: string; readonly flags: string }
  | { readonly fault: string };

/**
 * Compiles a regular expression in Python syntax, as sources use it: it matches from the start of a
 * name, and can begin with flags.
 */
export function compileNamePattern(text: string): NamePattern {
  const [, inlineFlags = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(text) ?? [];
  const source = `^(?:${fromPython(rest)})`;
  const flags = `${inlineFlags}u`;
  try {
    new RegExp(source, flags);
    return { fault: null, source, flags };
  } catch (error) {
    return { fault: messageOf(error).replace(/^.*: /, '') };
  }
}

/** Task of `name-pattern.thread.ts`. */
export interface MatchTask {
  source: string;
  flags: string;
  names: readonly string[];
}

/** Thread that matches names for all imports; its timeout limits the delay that a slow expression causes. */
const matcher = new Thread<MatchTask, string[]>({
  file: threadFile('name-pattern'),
  // Usual expressions match the names of 50,000 hosts in 80 ms.
  timeoutMs: 3000,
  resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 },
});

/**
 * Returns the names that a pattern matches.
 *
 * @throws ImportError for an invalid or too slow pattern
 */
export async function namesMatching(
  text: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const pattern = compileNamePattern(text);
  if (pattern.fault !== null) {
    throw new ImportError(`The host_filter is not a valid regular expression: ${pattern.fault}`);
  }
  try {
    return new Set(await matcher.run({ source: pattern.source, flags: pattern.flags, names }));
  } catch {
    throw new ImportError('The host_filter takes too long to be matched.');
  }
}

import { Thread, threadFile } from '../../common/thread.js';
import { ImportError } from './delivery.js';
import { fromPython } from './python-pattern.js';

/** A pattern for names of hosts, or why it is none. */
export type NamePattern =
  | { readonly fault: null; readonly source: string; readonly flags: string }
  | { readonly fault: string };

/**
 * Reads a regular expression as sources write it, for Python: it is matched from the start of a name, and
 * may begin with flags.
 */
export function compileNamePattern(text: string): NamePattern {
  const [, own = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(text) ?? [];
  const source = `^(?:${fromPython(rest)})`;
  const flags = `${own}u`;
  try {
    new RegExp(source, flags);
    return { fault: null, source, flags };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { fault: reason.replace(/^.*: /, '') };
  }
}

/** Task of `name-pattern.thread.ts`. */
export interface MatchTask {
  source: string;
  flags: string;
  names: readonly string[];
}

/** An expression may take as long as it likes: it is its author who waits, and not for ever. */
const matcher = new Thread<MatchTask, string[]>({
  file: threadFile('name-pattern'),
  timeoutMs: 10_000,
  resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 },
});

/** Which of the names a pattern matches. @throws ImportError when it is none, or takes too long */
export async function namesMatching(
  text: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const pattern = compileNamePattern(text);
  if (pattern.fault !== null) {
    throw new ImportError(`The host_filter is no regular expression: ${pattern.fault}`);
  }
  try {
    return new Set(await matcher.run({ source: pattern.source, flags: pattern.flags, names }));
  } catch {
    throw new ImportError('The host_filter takes too long to be matched.');
  }
}

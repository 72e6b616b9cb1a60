import { exactJson } from '../common/exact-json.js';
/** Names no source may set, of whatever kind. */
const NEVER = new Set(['HOME', 'USER', '_', 'TERM', 'PATH']);
/** Names with which whoever writes to a project could have the worker run something else. */
const LOADERS =
  /^(LD_|DYLD_|PYTHON|NODE_|AUTOMATION_CONTROLLER_|RUNNER_)|^(BASH_ENV|ENV|IFS|SHELL|TMPDIR|INVENTORY_SOURCE_ID|INVENTORY_UPDATE_ID)$/;
const NAME = /^[A-Za-z_]\w*$/;

/**
 * What is wrong with the names of a source's variables
 * (docs/contract/inventory-sources.md#source-variables).
 *
 * @param isEnvironment they become the environment of what is read
 */
export function sourceVariableFaults(names: readonly string[], isEnvironment: boolean): string[] {
  return names.flatMap((name) => {
    const isRefused = NEVER.has(name) || (isEnvironment && LOADERS.test(name));
    if (isRefused) return [`\`${name}\` is a prohibited environment variable`];
    if (isEnvironment && !NAME.test(name)) {
      return [`\`${name}\` is no name of an environment variable`];
    }
    return [];
  });
}

/** Variables as an environment: texts as they are, everything else as JSON. */
export const environmentOf = (variables: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : exactJson(value),
    ]),
  );

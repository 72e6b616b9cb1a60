import { exactJson } from '../common/exact-json.js';
import { mapValues } from '../common/records.js';

/** Names that no source of any kind can set. */
const PROHIBITED = new Set(['HOME', 'USER', '_', 'TERM', 'PATH']);
/** Names that would let authors of a project run other programs, or replace values that the worker sets. */
const LOADERS =
  /^(LD_|DYLD_|PYTHON|NODE_|AUTOMATION_CONTROLLER_|RUNNER_)|^(BASH_ENV|ENV|IFS|SHELL|TMPDIR|INVENTORY_SOURCE_ID|INVENTORY_UPDATE_ID)$/;
const NAME = /^[A-Za-z_]\w*$/;

/**
 * Returns the faults of the names of a source's variables
 * (docs/contract/inventory-sources.md#source-variables).
 *
 * @param isEnvironment true if the variables become environment variables
 */
export function sourceVariableFaults(names: readonly string[], isEnvironment: boolean): string[] {
  return names.flatMap((name) => {
    const isProhibited = PROHIBITED.has(name) || (isEnvironment && LOADERS.test(name));
    if (isProhibited) return [`\`${name}\` is a prohibited environment variable`];
    if (isEnvironment && !NAME.test(name)) {
      return [`\`${name}\` is not a name of an environment variable`];
    }
    return [];
  });
}

/** Returns variables as an environment: texts unchanged, all other values as JSON. */
export const environmentOf = (variables: Readonly<Record<string, unknown>>) =>
  mapValues(variables, (value) => (typeof value === 'string' ? value : exactJson(value)));

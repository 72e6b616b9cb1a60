import type { FieldErrors } from '../common/errors/errors.js';
import { connectionFaults } from '../prompts/connection-variables.js';
import { shortName } from './command-modules.service.js';

/** What is checked of a command, its module known to be offered. */
export interface CheckedCommand {
  module: string;
  moduleArgs: string;
  limit: string;
  /** Whether a host or group of a name is in the inventory. */
  has: (name: string) => boolean;
  forks: number;
  variables: Readonly<Record<string, unknown>>;
}

/** Modules that do nothing without arguments, and end in an error. */
const NEED_ARGUMENTS = ['command', 'shell'];
/** What Ansible would evaluate on the machine of the worker. */
const TEMPLATE = /\{[{%#]/;

/** Names that Ansible takes for the machine it runs on, as entries of a pattern that add hosts. */
const LOCAL = /(?:^|[,:])\s*(localhost|127\.0\.0\.1|::1)\s*(?=$|[,:[])/g;

/** Names for the machine of the worker in a limit: they must be hosts of the inventory. */
export const localNames = (limit: string): string[] =>
  Array.from(limit.matchAll(LOCAL), ([, name = '']) => name);

/** What is wrong with a command, by field (docs/contract/ad-hoc-commands.md#launch). */
export function commandErrors(
  { module, moduleArgs, limit, has, forks, variables }: CheckedCommand,
  { maxForks }: { maxForks: number },
): FieldErrors {
  const errors: FieldErrors = {};
  const short = shortName(module);
  if (moduleArgs.trim() === '' && NEED_ARGUMENTS.includes(short)) {
    errors.module_args = [`No argument passed to ${short} module.`];
  } else if (TEMPLATE.test(moduleArgs)) {
    errors.module_args = ['Inline Jinja variables are not allowed.'];
  }
  const fault = limitFault(limit, has);
  if (fault !== null) errors.limit = [fault];
  if (forks > maxForks) errors.forks = [`Maximum number of forks (${maxForks}) exceeded.`];
  const faults = variableFaults(variables);
  if (faults.length > 0) errors.extra_vars = faults;
  return errors;
}

function limitFault(limit: string, has: CheckedCommand['has']): string | null {
  if (limit.trimStart().startsWith('-')) return 'A limit must not begin with "-".';
  // `@file` has Ansible read patterns from a file of the run.
  if (limit.includes('@')) return 'A limit must not name a file ("@").';
  const stranger = localNames(limit).find((name) => !has(name));
  if (stranger === undefined) return null;
  return `"${stranger}" is not in the inventory: commands do not run on the machine of the worker.`;
}

/** Variables that decide how Ansible connects; those of other names are told in other words. */
function variableFaults(variables: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(variables);
  const prohibited = names.filter((name) => name.startsWith('ansible_'));
  if (prohibited.length > 0) {
    const named = prohibited.sort().reverse().join(', ');
    return [`${named} are prohibited from use in ad hoc commands.`];
  }
  return connectionFaults(variables, { isOpen: false, held: {} });
}

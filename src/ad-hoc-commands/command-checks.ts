import type { FieldErrors } from '../common/errors/errors.js';
import { connectionFaults } from '../prompts/connection-variables.js';
import { shortName } from './command-modules.service.js';

/** Command with an offered module, before its checks. */
export interface CheckedCommand {
  module: string;
  moduleArgs: string;
  limit: string;
  /** Returns true if the inventory has a host or group with the name. */
  has: (name: string) => boolean;
  forks: number;
  variables: Readonly<Record<string, unknown>>;
}

/** Modules that fail without arguments. */
const NEED_ARGUMENTS = ['command', 'shell'];
/** Template markers, which Ansible would evaluate on the machine of the worker. */
const TEMPLATE = /\{[{%#]/;

/** Entries of a host pattern that Ansible interprets as the machine of the worker. */
const LOCAL = /(?:^|[,:])\s*(localhost|127\.0\.0\.1|::1)\s*(?=$|[,:[])/g;

/**
 * Returns the names in a limit that can mean the machine of the worker. They are only allowed if
 * they are hosts of the inventory.
 */
export const localNames = (limit: string): string[] =>
  Array.from(limit.matchAll(LOCAL), ([, name = '']) => name);

/** Returns the faults of a command by field (docs/contract/ad-hoc-commands.md#launch). */
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
  // `@file` makes Ansible read patterns from a file of the run.
  if (limit.includes('@')) return 'A limit must not name a file ("@").';
  const outsideHost = localNames(limit).find((name) => !has(name));
  if (outsideHost === undefined) return null;
  return `"${outsideHost}" is not in the inventory: commands do not run on the machine of the worker.`;
}

/**
 * Returns the faults of connection variables; variables without the prefix `ansible_` have another
 * error text.
 */
function variableFaults(variables: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(variables);
  const prohibited = names.filter((name) => name.startsWith('ansible_'));
  if (prohibited.length > 0) {
    const listed = prohibited.sort().reverse().join(', ');
    return [`${listed} are prohibited from use in ad hoc commands.`];
  }
  return connectionFaults(variables, { isOpen: false, defaults: {} });
}

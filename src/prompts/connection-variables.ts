import { isDeepStrictEqual } from 'node:util';

type Variables = Readonly<Record<string, unknown>>;

/**
 * Plugins take their options from variables whose names begin so: the connection, its arguments and
 * executables, becoming another user, the shell, the interpreter of modules, the folder for their
 * files. Every collection adds plugins of its own, so that no list of whole names would be complete.
 */
const PREFIXES: readonly string[] = ['ansible_', '_ansible_'];

/** Names without that beginning which plugins take options from. */
const NAMES: ReadonlySet<string> = new Set([
  // The address of a host that has no other.
  'inventory_hostname',
  'delegated_vars',
  // Login of network devices.
  'http_login_user',
  'http_login_password',
  // Programs and services that open secrets.
  'sops_binary',
  'sops_config_path',
  'sops_keyservice',
]);

/** Whether a variable decides how Ansible connects, to whom, or which program it runs. */
export const isConnectionVariable = (name: string): boolean =>
  NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));

/** What a template says about variables that decide how Ansible connects. */
export interface ConnectionRule {
  /** Launches may bring them. */
  isOpen: boolean;
  /** What holds without a launch's own word: repeating it changes nothing. */
  held: Variables;
}

/**
 * Why variables may not be brought by somebody who does not write the template, in sentences
 * (docs/contract/launching.md#connection-variables).
 */
export function connectionFaults(brought: Variables, { isOpen, held }: ConnectionRule): string[] {
  if (isOpen) return [];
  const names = Object.keys(brought).filter(
    (name) =>
      isConnectionVariable(name) &&
      !(Object.hasOwn(held, name) && isDeepStrictEqual(brought[name], held[name])),
  );
  if (names.length === 0) return [];
  return [
    `Variables ${names.join(', ')} decide how Ansible connects or what it executes. ` +
      'Only a template with allow_connection_vars takes them from a launch.',
  ];
}

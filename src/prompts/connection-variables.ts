import { isDeepStrictEqual } from 'node:util';

type Variables = Readonly<Record<string, unknown>>;

/**
 * Prefixes of variables from which plugins take their options: connection, its arguments and
 * executables, privilege escalation, shell, module interpreter, folder for their files. Collections
 * contain further plugins, so no list of full names would be complete.
 */
const PREFIXES: readonly string[] = ['ansible_', '_ansible_'];

/** Names without these prefixes from which plugins take options. */
const NAMES: ReadonlySet<string> = new Set([
  // Address of a host that has no other address.
  'inventory_hostname',
  'delegated_vars',
  // Login for network devices.
  'http_login_user',
  'http_login_password',
  // Programs and services that decrypt secrets.
  'sops_binary',
  'sops_config_path',
  'sops_keyservice',
]);

/**
 * Returns true for a variable that controls how Ansible connects, where it connects to, or which
 * program it runs.
 */
export const isConnectionVariable = (name: string): boolean =>
  NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));

/** A template's rule for connection variables. */
export interface ConnectionRule {
  /** True if launches can set connection variables. */
  isOpen: boolean;
  /** Variables of a run whose launch sets none. A launch may repeat these values. */
  defaults: Variables;
  /** Names of secret defaults, which a launch may not repeat: the refusal of guesses would reveal them. */
  secrets?: ReadonlySet<string>;
}

/**
 * Returns the reasons, as sentences, why variables cannot be set by a user who does not edit the
 * template (docs/contract/launching.md#connection-variables).
 */
export function connectionFaults(
  sent: Variables,
  { isOpen, defaults, secrets = new Set() }: ConnectionRule,
): string[] {
  if (isOpen) return [];
  const isRepeated = (name: string): boolean =>
    Object.hasOwn(defaults, name) &&
    !secrets.has(name) &&
    isDeepStrictEqual(sent[name], defaults[name]);
  const names = Object.keys(sent).filter((name) => isConnectionVariable(name) && !isRepeated(name));
  if (names.length === 0) return [];
  return [
    `Variables ${names.join(', ')} decide how Ansible connects or what it executes. ` +
      'Only a template with allow_connection_vars takes them from a launch.',
  ];
}

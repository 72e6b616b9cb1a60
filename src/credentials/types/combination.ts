import type { CredentialKind, TypedInputs } from './definition.js';
import { textInput } from './inputs.js';

/** Kinds that can be attached to a job template. Credentials of other kinds are used elsewhere. */
export const JOB_KINDS: readonly CredentialKind[] = ['ssh', 'vault', 'cloud', 'net', 'kubernetes'];

/** Credential for the rules of combination, which use only the vault id of its inputs. */
export interface CombinedCredential extends TypedInputs {
  name: string;
}

/**
 * Slot of a credential. Two credentials of one slot cannot be combined: one per type, for vaults one per
 * vault id.
 */
export interface CredentialSlot {
  key: string;
  /** Display text: `Machine`, `Vault (id=prod)`. */
  label: string;
}

/** Returns the slot of a credential. Types are identified by kind and name, which are unique together. */
export function credentialSlot({ type, inputs }: TypedInputs): CredentialSlot {
  const vaultId = type.kind === 'vault' ? textInput(inputs, 'vault_id') : '';
  return {
    key: JSON.stringify([type.kind, type.name, vaultId]),
    label: vaultId === '' ? type.name : `${type.name} (id=${vaultId})`,
  };
}

/** Returns the reason why a credential cannot be attached to a template, or null. */
export function attachError(
  attached: readonly CombinedCredential[],
  added: CombinedCredential,
): string | null {
  if (!JOB_KINDS.includes(added.type.kind)) return `${wrongKind(added)}.`;
  const slot = credentialSlot(added);
  const isTaken = attached.some((other) => credentialSlot(other).key === slot.key);
  return isTaken ? multiple(slot) : null;
}

/** Returns the errors of a launch's credentials, without duplicates. */
export function launchErrors(credentials: readonly CombinedCredential[]): string[] {
  const unsupported = credentials.filter(({ type }) => !JOB_KINDS.includes(type.kind));
  const supported = credentials.filter((credential) => !unsupported.includes(credential));
  return [...new Set([...slotErrors(supported), ...unsupported.map(wrongKind)])];
}

/** Returns the errors for slots with several credentials of any kind, without duplicates. */
export function slotErrors(credentials: readonly CombinedCredential[]): string[] {
  const seen = new Set<string>();
  const errors = new Set<string>();
  for (const slot of credentials.map(credentialSlot)) {
    if (seen.has(slot.key)) errors.add(multiple(slot));
    seen.add(slot.key);
  }
  return [...errors];
}

/**
 * Returns an error unless the credentials of a launch fill all slots of the template. Otherwise the
 * job would run without credentials that the template's author intended.
 */
export function removalErrors(
  defaults: readonly CombinedCredential[],
  provided: readonly CombinedCredential[],
): string[] {
  const filled = new Set(provided.map((credential) => credentialSlot(credential).key));
  const removed = defaults.filter((credential) => !filled.has(credentialSlot(credential).key));
  if (removed.length === 0) return [];
  const labels = removed.map((credential) => credentialSlot(credential).label).join(', ');
  const names = removed.map(({ name }) => name).join(', ');
  return [
    `Removing ${labels} credential at launch time without replacement is not supported. ` +
      `Provided list lacked credential(s): ${names}.`,
  ];
}

function multiple({ label }: CredentialSlot): string {
  return `Cannot assign multiple ${label} credentials.`;
}

function wrongKind({ type }: CombinedCredential): string {
  return `Cannot assign a Credential of kind \`${type.kind}\``;
}

import type { CredentialInputs, CredentialKind, CredentialTypeDefinition } from './definition.js';
import { textInput } from './inputs.js';

/** Kinds that can be attached to a job template; the others are used in places of their own. */
export const JOB_KINDS: readonly CredentialKind[] = ['ssh', 'vault', 'cloud', 'net', 'kubernetes'];

/** What the rules need to know of a credential: its name, its type and the vault id among its inputs. */
export interface CombinedCredential {
  name: string;
  type: CredentialTypeDefinition;
  inputs: CredentialInputs;
}

/** Two credentials of one slot exclude each other: one per type, for vaults one per vault id. */
export interface CredentialSlot {
  key: string;
  /** For messages: `Machine`, `Vault (id=prod)`. */
  label: string;
}

/** The slot of a credential. Types are told apart by kind and name, which are unique together. */
export function credentialSlot({ type, inputs }: Omit<CombinedCredential, 'name'>): CredentialSlot {
  const vaultId = type.kind === 'vault' ? textInput(inputs, 'vault_id') : '';
  return {
    key: JSON.stringify([type.kind, type.name, vaultId]),
    label: vaultId === '' ? type.name : `${type.name} (id=${vaultId})`,
  };
}

/** Why a credential cannot be attached beside those of a template, or null when it can. */
export function attachError(
  attached: readonly CombinedCredential[],
  added: CombinedCredential,
): string | null {
  if (!JOB_KINDS.includes(added.type.kind)) return `${wrongKind(added)}.`;
  const slot = credentialSlot(added);
  const isTaken = attached.some((other) => credentialSlot(other).key === slot.key);
  return isTaken ? multiple(slot) : null;
}

/** Faults of the credentials that a launch brings, each text once. */
export function launchErrors(credentials: readonly CombinedCredential[]): string[] {
  const strange = credentials.filter(({ type }) => !JOB_KINDS.includes(type.kind));
  const fitting = credentials.filter((one) => !strange.includes(one));
  return [...new Set([...slotErrors(fitting), ...strange.map(wrongKind)])];
}

/** Slots of which several credentials want to be, whatever they are used for; each text once. */
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
 * A launch that brings credentials must fill every slot that the template fills: leaving one out
 * would run the job with less than its author meant.
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

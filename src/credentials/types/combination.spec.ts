import {
  attachError,
  launchErrors,
  removalErrors,
  type CombinedCredential,
} from './combination.js';
import type { CredentialTypeDefinition } from './definition.js';
import { managedCredentialType } from '../../../test/support/managed-credential-type.js';

const custom = (name: string): CredentialTypeDefinition => ({
  name,
  kind: 'cloud',
  namespace: null,
  managed: false,
  inputs: {},
  injectors: {},
});
const credential = (
  name: string,
  type: string | CredentialTypeDefinition,
  inputs = {},
): CombinedCredential => {
  const found = typeof type === 'string' ? managedCredentialType(type) : type;
  if (!found) throw new Error('no such type');
  return { name, type: found, inputs };
};

const machine = credential('demo', 'ssh');
const vault = credential('v', 'vault');
const prod = credential('p', 'vault', { vault_id: 'prod' });
const cloud = credential('c', custom('Cloud X'));

describe('attaching a credential to a template', () => {
  it('allows one of each type, and vaults with different ids', () => {
    const attached = [machine, vault, cloud];
    expect(attachError(attached, prod)).toBeNull();
    expect(attachError(attached, credential('d', custom('Cloud Y')))).toBeNull();
    expect(attachError(attached, credential('n', 'net'))).toBeNull();
  });

  it.each([
    [machine, 'Cannot assign multiple Machine credentials.'],
    [vault, 'Cannot assign multiple Vault credentials.'],
    [prod, 'Cannot assign multiple Vault (id=prod) credentials.'],
    [cloud, 'Cannot assign multiple Cloud X credentials.'],
  ])('refuses a second credential of the same type and vault id', (added, message) => {
    expect(attachError([machine, vault, prod, cloud], added)).toBe(message);
  });

  it.each(['scm', 'registry', 'galaxy_api_token', 'service_a_token'])('refuses %s', (namespace) => {
    const added = credential('s', namespace);
    expect(attachError([], added)).toBe(
      `Cannot assign a Credential of kind \`${added.type.kind}\`.`,
    );
  });
});

describe('credentials of a launch', () => {
  it('cause one error for each fault', () => {
    expect(launchErrors([machine, machine, machine, credential('s', 'scm'), vault, prod])).toEqual([
      'Cannot assign multiple Machine credentials.',
      'Cannot assign a Credential of kind `scm`',
    ]);
    expect(launchErrors([])).toEqual([]);
  });

  it('may replace but not remove those of the template', () => {
    expect(removalErrors([machine, vault], [credential('other', 'ssh'), vault, cloud])).toEqual([]);
    expect(removalErrors([machine], [])).toEqual([
      'Removing Machine credential at launch time without replacement is not supported. ' +
        'Provided list lacked credential(s): demo.',
    ]);
    expect(removalErrors([machine, prod], [cloud])).toEqual([
      'Removing Machine, Vault (id=prod) credential at launch time without replacement is not supported. ' +
        'Provided list lacked credential(s): demo, p.',
    ]);
  });
});

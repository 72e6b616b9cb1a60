import { existing } from '../../common/invariants.js';
import { sampleKeys } from '../../../test/support/payloads/ssh-keys.js';
import type { CredentialInputs, CredentialTypeDefinition } from './definition.js';
import {
  maskInputs,
  MAX_INPUT_LENGTH,
  missingInputs,
  passwordsNeeded,
  secretInputs,
  validateInputs,
} from './inputs.js';
import { managedCredentialType } from '../../../test/support/managed-credential-type.js';

const typeOf = (namespace: string): CredentialTypeDefinition =>
  existing(managedCredentialType(namespace), namespace);
const MACHINE = typeOf('ssh');
const CUSTOM: CredentialTypeDefinition = {
  name: 'Cloud X',
  kind: 'cloud',
  namespace: null,
  managed: false,
  inputs: {
    fields: [
      { id: 'region', label: 'Region', type: 'string', choices: ['eu', 'us'] },
      { id: 'pin', label: 'Pin', type: 'string', secret: true, choices: ['canary'] },
      { id: 'secret', label: 'Secret', type: 'string', secret: true },
      { id: 'verify', label: 'Verify', type: 'boolean', default: true },
    ],
    required: ['region', 'verify'],
  },
  injectors: {},
};

const errorsOf = (type: CredentialTypeDefinition, incoming: unknown, previous?: CredentialInputs) =>
  validateInputs(type, incoming, previous).errors.inputs ?? {};
const plainKey = sampleKeys().plain['pkcs8'] ?? '';
const lockedKey = sampleKeys().encrypted['pkcs8'] ?? '';

describe('validateInputs', () => {
  it('returns the inputs in the form in which they are stored', () => {
    const incoming = {
      username: 'root',
      password: 'canary',
      become_method: '',
      ssh_key_data: null,
    };
    expect(validateInputs(MACHINE, incoming)).toEqual({
      errors: {},
      inputs: { username: 'root', password: 'canary', become_method: '' },
    });
  });

  it.each<[string, unknown, string[] | Record<string, string[]>]>([
    ['an undeclared key', { nothing: 1 }, ["'nothing' was unexpected"]],
    ['a prototype key', JSON.parse('{"__proto__": "x"}'), ["'__proto__' was unexpected"]],
    ['a key of all objects', { constructor: 'x' }, ["'constructor' was unexpected"]],
    ['an object', { username: {} }, { username: ['Not a valid string.'] }],
    ['a boolean', { username: true }, { username: ['Not a valid string.'] }],
    ['a number', { username: 5 }, { username: ['Not a valid string.'] }],
    ['a number for a choice', { become_method: 0 }, { become_method: ['Not a valid string.'] }],
    [
      'a NUL',
      { password: 'a\0b' },
      { password: ['Null characters and invalid Unicode are not allowed.'] },
    ],
    [
      'a lone surrogate',
      { password: '\ud800' },
      { password: ['Null characters and invalid Unicode are not allowed.'] },
    ],
    ['a second line', { password: 'a\nb' }, { password: ['Must be a single line.'] }],
    [
      'too much text',
      { password: 'a'.repeat(MAX_INPUT_LENGTH + 1) },
      { password: [`Ensure this field has no more than ${MAX_INPUT_LENGTH} characters.`] },
    ],
    ['a bad key', { ssh_key_data: 'canary' }, { ssh_key_data: ['Invalid certificate or key.'] }],
    ['no object', [], ['Must be an object.']],
    ['a text', 'x', ['Must be an object.']],
    ['null', null, ['Must be an object.']],
  ])('refuses %s', (_name, incoming, messages) => {
    expect(validateInputs(MACHINE, incoming)).toEqual({
      errors: { inputs: messages },
      inputs: {},
    });
  });

  it('reports all errors together and never a secret value', () => {
    const errors = errorsOf(CUSTOM, { region: 'mars', pin: 'hunter2', verify: 'maybe', more: 1 });
    expect(errors).toEqual({
      region: ['"mars" is not a valid choice.'],
      pin: ['Not a valid choice.'],
      verify: ['Must be a valid boolean.'],
      more: ["'more' was unexpected"],
    });
  });

  it('converts the notations of booleans that clients use', () => {
    expect(validateInputs(CUSTOM, { verify: 0, secret: '6' }).inputs).toEqual({
      verify: false,
      secret: '6',
    });
    expect(validateInputs(CUSTOM, { verify: 'true', region: '' }).inputs).toEqual({
      verify: true,
      region: '',
    });
  });

  it('allows several lines in any text of a custom type', () => {
    expect(errorsOf(CUSTOM, { secret: '{\n}' })).toEqual({});
  });

  describe('$encrypted$', () => {
    const reserved = (id: string) => ({
      [id]: [`$encrypted$ is a reserved keyword, and cannot be used for ${id}.`],
    });

    it('is refused when a credential is created', () => {
      expect(errorsOf(MACHINE, { password: '$encrypted$' })).toEqual(reserved('password'));
    });

    it('keeps the previous secret when a credential is changed', () => {
      const checked = validateInputs(
        MACHINE,
        { password: '$encrypted$', username: 'new' },
        { password: 'kept', username: 'old', become_method: 'sudo' },
      );
      expect(checked).toEqual({ errors: {}, inputs: { password: 'kept', username: 'new' } });
    });

    it('is refused if there is no previous secret', () => {
      expect(errorsOf(MACHINE, { username: '$encrypted$' }, { username: 'root' })).toEqual(
        reserved('username'),
      );
      expect(errorsOf(MACHINE, { become_password: '$encrypted$' }, { password: 'x' })).toEqual(
        reserved('become_password'),
      );
    });
  });

  describe('key and passphrase', () => {
    const MUST = { ssh_key_unlock: ['must be set when SSH key is encrypted.'] };
    const MUST_NOT = { ssh_key_unlock: ['should not be set when SSH key is not encrypted.'] };

    it.each<[string, Record<string, string>, object]>([
      ['a plain key', { ssh_key_data: plainKey }, {}],
      ['a plain key with a passphrase', { ssh_key_data: plainKey, ssh_key_unlock: 'x' }, MUST_NOT],
      ['a plain key and ASK', { ssh_key_data: plainKey, ssh_key_unlock: 'ASK' }, MUST_NOT],
      ['a locked key alone', { ssh_key_data: lockedKey }, MUST],
      [
        'a locked key with an empty passphrase',
        { ssh_key_data: lockedKey, ssh_key_unlock: '' },
        MUST,
      ],
      ['a locked key with a passphrase', { ssh_key_data: lockedKey, ssh_key_unlock: 'x' }, {}],
      ['a locked key and ASK', { ssh_key_data: lockedKey, ssh_key_unlock: 'ASK' }, {}],
      ['a passphrase without a key', { ssh_key_unlock: 'x' }, {}],
    ])('checks %s', (_name, incoming, errors) => {
      expect(errorsOf(MACHINE, incoming)).toEqual(errors);
    });

    it('checks a key that the request does not change', () => {
      const previous = { ssh_key_data: lockedKey, ssh_key_unlock: 'x' };
      expect(errorsOf(MACHINE, { ssh_key_data: '$encrypted$' }, previous)).toEqual(MUST);
      expect(
        errorsOf(MACHINE, { ssh_key_data: '$encrypted$', ssh_key_unlock: '$encrypted$' }, previous),
      ).toEqual({});
    });
  });

  it.each([
    [
      'net',
      { authorize_password: 'x' },
      { authorize_password: ['cannot be set unless "authorize" is set.'] },
    ],
    [
      'net',
      { authorize_password: 'x', authorize: false },
      { authorize_password: ['cannot be set unless "authorize" is set.'] },
    ],
    ['net', { authorize_password: 'x', authorize: true }, {}],
    ['net', { authorize_password: '' }, {}],
    ['vault', { vault_password: 'x', vault_id: 'prod' }, {}],
    [
      'vault',
      { vault_id: 'a@b' },
      { vault_id: ['"@", spaces and a leading "-" are not allowed.'] },
    ],
    ['vault', { vault_id: '-v' }, { vault_id: ['"@", spaces and a leading "-" are not allowed.'] }],
    ['vault', {}, {}],
    ['service_a_token', { token: 'x', host: 'https://git.example.com' }, {}],
    [
      'service_a_token',
      { token: 'x', host: 'javascript:alert(1)' },
      { host: ['Enter a valid URL.'] },
    ],
    ['service_a_token', { token: 'x', host: 'https://' }, { host: ['Enter a valid URL.'] }],
    [
      'service_a_token',
      { token: 'x', host: `https://h/${'/'.repeat(2_039)}` },
      { host: ['Ensure this field has no more than 2048 characters.'] },
    ],
    ['service_a_token', { token: 'ASK' }, {}],
  ])('follows the rules of %s for %p', (namespace, incoming, errors) => {
    expect(errorsOf(typeOf(namespace), incoming)).toEqual(errors);
  });
});

describe('secrets of a credential', () => {
  it('are named by the type', () => {
    expect(secretInputs(MACHINE)).toEqual([
      'password',
      'ssh_key_data',
      'ssh_public_key_data',
      'ssh_key_unlock',
      'become_password',
    ]);
    expect(secretInputs({ ...CUSTOM, inputs: {} })).toEqual([]);
  });

  it('are masked; prompts, empty texts and plain inputs are not', () => {
    const inputs = {
      username: 'root',
      password: 'canary',
      become_password: 'ASK',
      ssh_key_unlock: '',
      left_over: 'canary',
    };
    expect(maskInputs(MACHINE, inputs)).toEqual({
      username: 'root',
      password: '$encrypted$',
      become_password: 'ASK',
      ssh_key_unlock: '',
      left_over: '$encrypted$',
    });
    expect(maskInputs(typeOf('scm'), { password: 'ASK' })).toEqual({ password: '$encrypted$' });
  });
});

describe('the passwords that a launch needs', () => {
  it.each<[string, CredentialInputs, string[]]>([
    ['ssh', { password: 'x' }, []],
    ['ssh', { password: 'ASK', become_password: 'ASK' }, ['ssh_password', 'become_password']],
    ['ssh', { ssh_key_data: 'sealed', ssh_key_unlock: 'ASK' }, ['ssh_key_unlock']],
    ['ssh', { ssh_key_data: lockedKey, ssh_key_unlock: 'x' }, []],
    ['vault', { vault_password: 'ASK' }, ['vault_password']],
    ['vault', { vault_password: 'ASK', vault_id: 'prod' }, ['vault_password.prod']],
    ['vault', { vault_password: 'x', vault_id: 'prod' }, []],
    ['net', { password: 'ASK' }, []],
  ])('for %s with %p', (namespace, inputs, names) => {
    expect(passwordsNeeded(typeOf(namespace), inputs)).toEqual(names);
  });

  it('exclude required inputs that the credential lacks', () => {
    expect(missingInputs(typeOf('vault'), {})).toEqual(['vault_password']);
    expect(missingInputs(typeOf('vault'), { vault_password: '' })).toEqual(['vault_password']);
    expect(missingInputs(typeOf('vault'), { vault_password: 'ASK' })).toEqual([]);
    expect(missingInputs(CUSTOM, { region: 'eu' })).toEqual([]);
    expect(missingInputs(MACHINE, {})).toEqual([]);
  });
});

it.each(['hashivault_kv', 'galaxy_api_token'])(
  'a URL of %s must not contain a password',
  (namespace) => {
    const text = 'Enter the password in its own input, not in the URL.';
    expect(errorsOf(typeOf(namespace), { url: 'https://bob:pw@host.example.com' })).toEqual({
      url: [text],
    });
    expect(errorsOf(typeOf(namespace), { url: 'https://bob@host.example.com' })).toEqual({});
  },
);

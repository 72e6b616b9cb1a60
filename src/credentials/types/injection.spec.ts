import { sampleKeys } from '../../../test/support/payloads/ssh-keys.js';
import type {
  CredentialInputs,
  CredentialTypeDefinition,
  InputField,
  TypeInjectors,
} from './definition.js';
import type { CombinedCredential } from './combination.js';
import { buildInjectionPlan } from './injection.js';
import { HIDDEN, InjectionError } from './injection-plan.js';
import { renderInjector } from './injector-template.js';
import { managedCredentialType } from '../../../test/support/managed-credential-type.js';

const managed = (
  namespace: string,
  inputs: CredentialInputs,
  name = namespace,
): CombinedCredential => {
  const type = managedCredentialType(namespace);
  if (!type) throw new Error(`no type ${namespace}`);
  return { name, type, inputs };
};
const FIELDS: InputField[] = [
  { id: 'token', label: 'Token', type: 'string', secret: true },
  { id: 'region', label: 'Region', type: 'string' },
  { id: 'verify', label: 'Verify', type: 'boolean', default: true },
  { id: 'key', label: 'Key', type: 'string', secret: true, format: 'ssh_private_key' },
];
const custom = (injectors: TypeInjectors, inputs: CredentialInputs): CombinedCredential => {
  const type: CredentialTypeDefinition = {
    name: 'Cloud X',
    kind: 'cloud',
    namespace: null,
    managed: false,
    inputs: { fields: FIELDS },
    injectors,
  };
  return { name: 'x', type, inputs };
};
const plan = (credentials: CombinedCredential[], passwords = {}) =>
  buildInjectionPlan(credentials, { passwords, fileDirectory: '/run/7/env' });

const plainKey = (sampleKeys().plain['pkcs8'] ?? '').trim();
const lockedKey = sampleKeys().encrypted['pkcs8'] ?? '';

describe('buildInjectionPlan', () => {
  it('refuses environment variables that Linux would refuse', () => {
    const env = { APP_TOKEN: '{{ token }}' };
    const token = 'x'.repeat(131_061);
    expect(plan([custom({ env }, { token })]).env).toEqual({ APP_TOKEN: token });
    expect(() => plan([custom({ env }, { token: `${token}x` })])).toThrow(
      /environment variable APP_TOKEN of a credential is too large/,
    );
    const many = Array.from({ length: 9 }, (_one, index) => [`APP_${index}`, '{{ token }}']);
    expect(() => plan([custom({ env: Object.fromEntries(many) }, { token })])).toThrow(
      /environment variable APP_8 of a credential is too large/,
    );
  });

  it('injects nothing without credentials', () => {
    const empty = plan([]);
    expect(empty).toMatchObject({
      remoteUser: null,
      sshPassword: null,
      vaults: [],
      env: {},
      files: [],
      secrets: [],
    });
  });

  it('reads users, passwords and keys from the machine credential', () => {
    const inputs = {
      username: 'deploy',
      password: 'pw',
      become_method: 'sudo',
      become_username: 'root',
      become_password: 'bpw',
      ssh_key_data: lockedKey,
      ssh_key_unlock: 'unlock',
    };
    expect(plan([managed('ssh', inputs)])).toMatchObject({
      remoteUser: 'deploy',
      sshPassword: 'pw',
      becomeMethod: 'sudo',
      becomeUser: 'root',
      becomePassword: 'bpw',
      sshKeyData: lockedKey,
      sshKeyUnlock: 'unlock',
      secrets: ['pw', lockedKey, 'unlock', 'bpw'],
    });
  });

  it('ends a key with a line break, and ignores the passphrase of a plain key', () => {
    const { sshKeyData, sshKeyUnlock } = plan([managed('ssh', { ssh_key_data: plainKey })]);
    expect(sshKeyData).toBe(`${plainKey}\n`);
    expect(sshKeyUnlock).toBeNull();
  });

  it('uses launch passwords only if the credential prompts for them', () => {
    const asking = managed('ssh', {
      password: 'ASK',
      become_password: 'stored',
      ssh_key_data: lockedKey,
      ssh_key_unlock: 'ASK',
    });
    const passwords = { ssh_password: 'one', become_password: 'two', ssh_key_unlock: 'three' };
    const built = plan([asking], passwords);
    expect(built).toMatchObject({
      sshPassword: 'one',
      becomePassword: 'stored',
      sshKeyUnlock: 'three',
    });
    expect(built.secrets).toEqual(expect.arrayContaining(['one', 'three', 'stored', lockedKey]));
    expect(built.secrets).not.toContain('ASK');
  });

  it('separates vault passwords by id', () => {
    const vaults = [
      managed('vault', { vault_password: 'a' }),
      managed('vault', { vault_password: 'ASK', vault_id: 'prod' }),
    ];
    expect(plan(vaults, { 'vault_password.prod': 'b' }).vaults).toEqual([
      { id: '', password: 'a' },
      { id: 'prod', password: 'b' },
    ]);
  });

  it('injects the network credential as environment variables', () => {
    const inputs = {
      username: 'u',
      password: 'p',
      ssh_key_data: plainKey,
      authorize: true,
      authorize_password: 'ap',
    };
    const { env, safeEnv, files } = plan([managed('net', inputs)]);
    expect(env).toEqual({
      ANSIBLE_NET_USERNAME: 'u',
      ANSIBLE_NET_PASSWORD: 'p',
      ANSIBLE_NET_SSH_KEYFILE: '/run/7/env/credential_0_ssh_key',
      ANSIBLE_NET_AUTHORIZE: '1',
      ANSIBLE_NET_AUTH_PASS: 'ap',
    });
    expect(safeEnv).toMatchObject({
      ANSIBLE_NET_USERNAME: 'u',
      ANSIBLE_NET_PASSWORD: HIDDEN,
      ANSIBLE_NET_AUTH_PASS: HIDDEN,
    });
    expect(files).toEqual([{ name: 'credential_0_ssh_key', content: `${plainKey}\n` }]);
    expect(plan([managed('net', { username: 'u' })]).env).toEqual({
      ANSIBLE_NET_USERNAME: 'u',
      ANSIBLE_NET_PASSWORD: '',
      ANSIBLE_NET_AUTHORIZE: '0',
    });
  });

  it('injects the credentials of inventory sources, and nothing for types without injectors', () => {
    const { env, extraVars } = plan([
      managed('insights', { username: 'u', password: 'p' }),
      managed('scm', { username: 'git' }),
    ]);
    expect(env).toEqual({ INSIGHTS_USER: 'u', INSIGHTS_PASSWORD: 'p' });
    expect(extraVars).toEqual({ scm_username: 'u', scm_password: 'p' });
  });

  it.each<[string, CombinedCredential[], string]>([
    [
      'two machine credentials',
      [managed('ssh', {}), managed('ssh', {})],
      'Cannot assign multiple Machine credentials.',
    ],
    [
      'a required input without a value',
      [managed('vault', {}, 'My vault')],
      'Job cannot start because Credential My vault does not provide one or more required fields (vault_password).',
    ],
    [
      'passwords that the request does not contain',
      [managed('ssh', { password: 'ASK', become_password: 'ASK' })],
      'Missing needed fields: ssh_password, become_password.',
    ],
  ])('refuses %s', (_name, credentials, explanation) => {
    expect(() => plan(credentials)).toThrow(new InjectionError(explanation));
  });
});

describe('custom injectors', () => {
  it('render environment, variables and files, with the path of the file', () => {
    const injectors = {
      file: { template: '[cloud]\ntoken = {{ token }}\n' },
      env: {
        X_CONFIG: '{{ tower.filename }}',
        X_TOKEN: 'Bearer {{ token }}',
        X_REGION: '{{ region }}',
      },
      extra_vars: { x_token: '{{ token }}', x_verify: '{{ verify }}' },
    };
    const built = plan([managed('ssh', {}), custom(injectors, { token: 'canary', region: 'eu' })]);
    const path = '/run/7/env/credential_1_template';
    expect(built).toMatchObject({
      env: { X_CONFIG: path, X_TOKEN: 'Bearer canary', X_REGION: 'eu' },
      safeEnv: { X_CONFIG: path, X_TOKEN: `Bearer ${HIDDEN}`, X_REGION: 'eu' },
      extraVars: { x_token: 'canary', x_verify: 'True' },
      files: [{ name: 'credential_1_template', content: '[cloud]\ntoken = canary' }],
      secrets: ['canary'],
    });
  });

  it('use a separate path for each of several files', () => {
    const injectors = {
      file: { 'template.cert': 'c', 'template.key': '{{ key }}' },
      env: { CERT: '{{ tower.filename.cert }}', KEY: '{{ tower.filename.key }}' },
    };
    const built = plan([custom(injectors, { key: plainKey })]);
    expect(built.env).toEqual({
      CERT: '/run/7/env/credential_0_template_cert',
      KEY: '/run/7/env/credential_0_template_key',
    });
    expect(built.files[1]?.content).toBe(`${plainKey}\n`);
  });

  it('render empty inputs as undefined, and booleans as their default', () => {
    const env = {
      A: "{{ region | default('us') }}",
      B: '{{ token }}',
      C: "{{ 'on' if verify else 'off' }}",
    };
    expect(plan([custom({ env }, { region: '' })]).env).toEqual({ A: 'us', B: '', C: 'on' });
    expect(plan([custom({ env }, { verify: false })]).env).toMatchObject({ C: 'off' });
  });

  it('cannot access anything except their inputs', () => {
    const { env } = plan([
      custom({ env: { A: '{{ password }}{{ process }}{{ namespace }}{{ strftime_now }}' } }, {}),
      managed('ssh', { password: 'canary' }),
    ]);
    expect(env).toEqual({ A: '' });
  });

  it('fail the job with an explanation that contains no secret', () => {
    const broken = custom({ env: { A: '{{ token + none }}' } }, { token: 'canary' });
    expect(() => plan([broken])).toThrow(
      /^Job cannot start because A of Credential x cannot be rendered: [^c]*/,
    );
    expect(() => plan([broken])).not.toThrow(/canary/);
    expect(() => plan([custom({ env: { ANSIBLE_CONFIG: 'x' } }, {})])).toThrow(
      'Environment variable ANSIBLE_CONFIG',
    );
  });
});

describe('renderInjector', () => {
  it.each([
    ["{{ '{{' }} {{ a }}", '{{ 1'],
    ['{% raw %}{{ a }} "x"\n{% endraw %}-{{ a }}', '{{ a }} "x"\n-1'],
    ['{% if a %}yes{% else %}no{% endif %}', 'yes'],
    ['{% for part in b.split(",") %}<{{ part }}>{% endfor %}', '<x><y>'],
    ['{{ b | upper }}', 'X,Y'],
    ['{# nothing #}{{ true }} {{ False }} {{ a == 1 }}', 'True False True'],
    ['a\n  {% if a %}\nb\n{% endif %}', 'a\n  \nb\n'],
  ])('renders %j as Jinja does', (template, text) => {
    expect(renderInjector(template, { a: 1, b: 'x,y' })).toBe(text);
  });

  it('limits steps and output', () => {
    const wide = `{% for x in a %}{% for y in a %}{{ y }}{% endfor %}{% endfor %}`;
    expect(() => renderInjector(wide, { a: Array.from({ length: 1000 }, () => 'x') })).toThrow(
      'too many steps',
    );
    expect(() => renderInjector('{{ a ~ a }}', { a: 'x'.repeat(600_000) })).toThrow(
      'produces more than',
    );
  });

  const shared = `{% set x = [1] %}${'{% set x = [x, x] %}'.repeat(40)}`;
  const long = `{% set x = '${'b'.repeat(400)}' %}${'{% set x = x ~ x %}'.repeat(10)}`;
  it.each([
    `${shared}{{ x }}`,
    `${shared}{{ '' + x }}`,
    `${shared}{{ x | tojson }}`,
    `${long}{{ a.split(',') | join(x, -9000000) }}`,
    '{{ [1] | tojson(indent=400000000) }}',
    '{{ a | replace(",", "\n") | indent(400000) }}',
  ])('refuses the size of %.60s before it takes memory', (template) => {
    expect(() => renderInjector(template, { a: 'x,'.repeat(1000) })).toThrow('produces more than');
  });

  it.each([
    `${long}{{ x | replace('b', a) }}`,
    `${long}{{ x.replace('b', a) }}`,
    `${long}{{ x.split('b') }}`,
  ])('refuses the result of %.60s before it takes memory', (template) => {
    expect(() => renderInjector(template, { a: 'x,'.repeat(1000) })).toThrow(
      'the template cannot be evaluated with these inputs',
    );
  });

  it.each(['a | upper', 'a.split(",")'])('limits the repeated use of %s', (step) => {
    const template = `{% for x in b %}{% set y = ${step} %}{% endfor %}`;
    const scope = { a: 'x,'.repeat(50_000), b: Array.from({ length: 1000 }, () => 1) };
    const startedAt = process.cpuUsage();
    expect(() => renderInjector(template, scope)).toThrow('too much text in too many steps');
    expect(process.cpuUsage(startedAt).user).toBeLessThan(2_000_000);
  });
});

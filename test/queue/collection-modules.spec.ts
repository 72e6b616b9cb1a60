/**
 * The collection itself, unmodified, as Debian ships it with `ansible-runner`: each task of a play is done
 * twice, against an API and a worker that run what is started. What its client sends in detail is told by
 * the stand-in of the API tests (test/client/collection).
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

type Params = Record<string, unknown>;
/** A module of the collection and what it is given. */
type Task = readonly [module: string, params: Params];

interface Result extends Params {
  changed: boolean;
  failed?: boolean;
  msg?: string;
}

const FIRST_ALONE = [true, false];
const HASHI = 'HashiCorp Vault Secret Lookup';

let cluster: Cluster;
let api: ApiCalls;
let plays = 0;

beforeAll(async () => {
  cluster = await Cluster.start({ concurrency: 4 });
  const repository = join(cluster.folder, 'repository');
  mkdirSync(repository);
  writeFileSync(join(repository, 'hosts.ini'), '[webs]\nweb1\nweb2\n');
  writeFileSync(join(repository, 'site.yml'), '- hosts: all\n  gather_facts: false\n  tasks: []\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: repository,
    });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'x');
  const environment = { PROJECT_SCM_SCHEMES: 'file', PROJECT_FILE_ROOTS: cluster.folder };
  api = await ApiCalls.start(cluster, environment);
  await cluster.worker(environment);
});
afterAll(() => cluster.stop());

/** Runs tasks one after the other, in a play of their own. @returns what each of them says, by task and turn */
async function play(tasks: readonly Task[], turns = 2): Promise<Result[][]> {
  const file = join(cluster.folder, `play-${(plays += 1)}.yml`);
  const shown = tasks.map(([module, params]) => ({
    ...{ name: module, [`awx.awx.${module}`]: params, ignore_errors: true },
    loop: Array.from({ length: turns }, (_, turn) => turn),
  }));
  // A document of JSON is one of YAML.
  writeFileSync(file, JSON.stringify([{ hosts: 'localhost', gather_facts: false, tasks: shown }]));
  const text = await new Promise<string>((resolve) => {
    const env = {
      ...process.env,
      ...{ ANSIBLE_STDOUT_CALLBACK: 'ansible.posix.json', ANSIBLE_LOCALHOST_WARNING: 'False' },
      // Each of some hundred modules costs a process less.
      ANSIBLE_PIPELINING: 'True',
      ...{ CONTROLLER_HOST: api.url, CONTROLLER_VERIFY_SSL: 'False' },
      CONTROLLER_OAUTH_TOKEN: api.authorization.replace('Bearer ', ''),
    };
    execFile('ansible-playbook', [file], { env }, (_error, stdout) => resolve(stdout));
  });
  interface Told {
    plays: [{ tasks: { hosts: { localhost: { results: Result[] } } }[] }];
  }
  const [{ tasks: told }] = (JSON.parse(text.slice(text.indexOf('{'))) as Told).plays;
  return told.map(({ hosts }) => hosts.localhost.results);
}

/** Runs tasks twice each. @returns whether each was a change, or why it failed, by the name of the object */
async function changes(tasks: readonly Task[]): Promise<unknown[]> {
  const results = await play(tasks);
  return tasks.map(([module, { name }], index) => [
    `${module} ${String(name)}`,
    ...(results[index] ?? []).map(({ failed, changed, msg }) => (failed ? msg : changed)),
  ]);
}

/** Every task is a change the first time, and none the second. */
async function expectIdempotent(tasks: readonly Task[]): Promise<void> {
  expect(await changes(tasks)).toEqual(
    tasks.map(([module, { name }]) => [`${module} ${String(name)}`, ...FIRST_ALONE]),
  );
}

const organization = 'Team';
const inventory = 'Machines';
const scm = () => ({ scm_type: 'git', scm_url: `file://${cluster.folder}/repository` });

/** What there is in the end, each made of those before it. */
const objects = (): Task[] => [
  ['organization', { name: organization, description: 'Ours', max_hosts: 50 }],
  [
    'credential_type',
    {
      ...{ name: 'Token of a shop', kind: 'cloud' },
      inputs: { fields: [{ id: 'token', label: 'Token', secret: true }], required: ['token'] },
      // For the server to fill in, not for the play.
      injectors: { env: { SHOP_TOKEN: '{% raw %}{{ token }}{% endraw %}' } },
    },
  ],
  [
    'credential',
    {
      ...{ name: 'Shop', organization, credential_type: 'Token of a shop', update_secrets: false },
      inputs: { token: 'secret' },
    },
  ],
  [
    'credential',
    { name: 'Keys', organization, credential_type: 'Machine', inputs: { username: 'root' } },
  ],
  [
    'credential',
    {
      ...{ name: 'Vault', organization, credential_type: HASHI, update_secrets: false },
      inputs: { url: 'https://vault.example', api_version: 'v2', token: 't' },
    },
  ],
  [
    'credential_input_source',
    {
      ...{ input_field_name: 'password', target_credential: 'Keys', source_credential: 'Vault' },
      metadata: { secret_path: 'a/b', secret_key: 'c' },
    },
  ],
  ['execution_environment', { name: 'Tools', image: 'registry.example/tools:1', organization }],
  ['instance_group', { name: 'Near', policy_instance_minimum: 1 }],
  [
    'project',
    { name: 'Code', organization, ...scm(), allow_override: true, wait: true, interval: 0.2 },
  ],
  ['inventory', { name: inventory, organization, variables: { site: 'north' } }],
  ['host', { name: 'one', inventory, variables: { ansible_connection: 'local' } }],
  ['host', { name: 'two', inventory, enabled: false, description: 'Later' }],
  ['group', { name: 'inner', inventory, hosts: ['one'], variables: { a: 1 } }],
  ['group', { name: 'outer', inventory, hosts: ['one', 'two'], children: ['inner'] }],
  [
    'inventory',
    { name: 'Clever', organization, kind: 'smart', host_filter: 'name__icontains=one' },
  ],
  [
    'inventory_source',
    {
      ...{ name: 'Files', inventory, organization, source: 'scm', source_project: 'Code' },
      ...{ source_path: 'hosts.ini', overwrite: true, source_vars: { A: 'b' }, verbosity: 2 },
      ...{ host_filter: 'web', scm_branch: 'main', credential: 'Shop' },
      execution_environment: 'Tools',
    },
  ],
  ['label', { name: 'x', organization }],
  ['label', { name: 'y', organization }],
  [
    'job_template',
    {
      ...{ name: 'Site', organization, project: 'Code', inventory, playbook: 'site.yml' },
      ...{ credentials: ['Keys', 'Shop'], labels: ['x'] },
      ...{ extra_vars: { a: 1 }, ask_limit_on_launch: true, instance_groups: ['Near'] },
    },
  ],
];

it('makes everything that hosts come from and are used by, once', async () => {
  await expectIdempotent(objects());
}, 300_000);

it('changes it once', async () => {
  await expectIdempotent([
    ['organization', { name: organization, description: '', galaxy_credentials: [] }],
    ['credential_type', { name: 'Token of a shop', kind: 'cloud', description: 'Changed' }],
    [
      'credential',
      { name: 'Keys', organization, credential_type: 'Machine', inputs: { username: 'ada' } },
    ],
    ['execution_environment', { name: 'Tools', image: 'registry.example/tools:2' }],
    ['instance_group', { name: 'Near', policy_instance_percentage: 50 }],
    ['project', { name: 'Code', organization, scm_clean: true, wait: false }],
    ['inventory', { name: inventory, organization, description: 'Changed', variables: {} }],
    ['host', { name: 'two', inventory, enabled: true, description: '' }],
    ['group', { name: 'outer', inventory, hosts: ['one'], children: [] }],
    ['inventory', { name: 'Clever', organization, kind: 'smart', host_filter: 'name=one' }],
    [
      'inventory_source',
      { name: 'Files', inventory, organization, source_vars: {}, host_filter: '' },
    ],
    ['job_template', { name: 'Site', organization, credentials: ['Keys'], labels: ['y'] }],
  ]);
}, 300_000);

it('reads the source, and says what became of it', async () => {
  const source = { name: 'Files', inventory, organization };
  const wait = { wait: true, interval: 0.2 };
  const [synced, updated, read] = await play([
    ['project_update', { name: 'Code', organization, ...wait }],
    ['inventory_source_update', { ...source, ...wait }],
    ['group', { name: 'webs', inventory, hosts: ['web1', 'web2'] }],
  ]);
  const over = (changed: boolean) => ({ changed, status: 'successful' });
  // A sync is a change where the revision is another one.
  expect(synced).toMatchObject([over(false), over(false)]);
  expect(updated).toMatchObject([over(true), over(true)]);
  expect(read).toMatchObject([{ changed: false }, { changed: false }]);
  const { results } = await api.call('GET', 'hosts/?inventory__name=Machines&order_by=name');
  expect((results as Params[]).map(({ name, enabled }) => [name, enabled])).toEqual(
    // Tasks that do not say whether a host is enabled leave it so.
    ['one', 'two', 'web1', 'web2'].map((name) => [name, true]),
  );
}, 300_000);

it('reads an inventory of an installation by its plugin', async () => {
  const login = { host: api.url, oauth_token: api.authorization.replace('Bearer ', '') };
  const { id } = await api
    .call('GET', 'inventories/?name=Machines')
    .then(({ results }) => (results as [Row])[0]);
  const copy = { name: 'Copy', inventory: 'Copied', organization };
  const [, , , updated] = await play([
    ['inventory', { name: 'Copied', organization }],
    [
      'credential',
      {
        ...{ name: 'There', organization, inputs: { ...login, verify_ssl: false } },
        credential_type: 'Red Hat Ansible Automation Platform',
      },
    ],
    [
      'inventory_source',
      { ...copy, source: 'controller', credential: 'There', source_vars: { inventory_id: id } },
    ],
    ['inventory_source_update', { ...copy, wait: true, interval: 0.2 }],
  ]);
  expect(updated).toMatchObject([{ status: 'successful' }, { status: 'successful' }]);
  const script = async (name: string) => {
    const { results } = await api.call('GET', `inventories/?name=${name}`);
    const [row] = results as [Row];
    return api.call('GET', `inventories/${row.id}/script/`);
  };
  expect(await script('Copied')).toEqual(await script('Machines'));
}, 300_000);

it('runs commands, waits for them and cancels them', async () => {
  // The credential takes its password from a store that is not there.
  const credential = 'Plain';
  await play([['credential', { name: credential, organization, credential_type: 'Machine' }]]);
  const command = { inventory, credential, limit: 'one', module_name: 'command' };
  const [pinged, refused] = await play([
    ['ad_hoc_command', { ...command, module_name: 'ping', wait: true, interval: 0.2 }],
    ['ad_hoc_command', { ...command, module_name: 'no such thing' }],
  ]);
  expect(pinged).toMatchObject([{ status: 'successful' }, { status: 'successful' }]);
  expect(JSON.stringify(refused?.[0]?.response)).toContain('is not a valid choice.');
  const [[started] = []] = await play(
    [['ad_hoc_command', { ...command, module_args: 'sleep 300' }]],
    1,
  );
  const command_id = started?.id;
  const [canceled, waited, unknown] = await play([
    ['ad_hoc_command_cancel', { command_id, interval: 0.2, timeout: 60 }],
    ['ad_hoc_command_wait', { command_id, interval: 0.2, timeout: 60 }],
    ['ad_hoc_command_wait', { command_id: 99_999, interval: 0.2, timeout: 60 }],
  ]);
  expect(canceled).toMatchObject([{ changed: true }, { changed: false }]);
  expect(waited).toMatchObject([{ status: 'canceled' }, { status: 'canceled' }]);
  expect(unknown?.[0]).toMatchObject({ failed: true });
}, 300_000);

it('finds nothing of it any more once it is removed', async () => {
  const absent = (tasks: readonly Task[]): Task[] =>
    tasks.map(([module, params]) => [module, { ...params, state: 'absent' }]);
  // A group takes along what is in it alone; labels go when nothing has them.
  const gone = ['inner', 'one', 'x', 'y'];
  const made = objects().filter(([, { name }]) => !gone.includes(String(name)));
  await expectIdempotent(absent(made.toReversed()));
}, 300_000);

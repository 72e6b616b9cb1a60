/**
 * Budget: 35 s, because some hundred modules call the API and wait for runs of a worker.
 *
 * The unmodified collection of Debian works against an API and a worker that executes the runs it starts. One
 * Python process calls the modules one after the other; a single test calls them through Ansible. The client
 * of the API tests (test/client/collection) covers the requests in detail.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { IS_DEEP } from '../support/depth.js';
import { linesOfPythonAside, PYTHON_OF_SYSTEM } from '../support/python.js';

type Params = Record<string, unknown>;
/** Module of the collection, its parameters, and the number of times it runs (by default 1). */
type Task = readonly [module: string, params: Params, turns?: number];

interface Result extends Params {
  changed: boolean;
  failed?: boolean;
  msg?: string;
}

/** Number of times that changes and removals run. Creation always runs twice. */
const REPEATED = IS_DEEP ? 2 : 1;
const HASHI = 'HashiCorp Vault Secret Lookup';

let cluster: Cluster;
let api: ApiCalls;

/** Results by play, task and repetition. */
let results: Record<'made' | 'changed' | 'run' | 'removed', Result[][]>;
/** Hosts of the inventory after an update of its source: their names, and whether they are enabled. */
let hosts: unknown[];
/** Scripts of the inventory and of its copy. */
let scripts: unknown[];

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
  const environment = {
    ...{ PROJECT_SCM_SCHEMES: 'file', PROJECT_FILE_ROOTS: cluster.folder },
    // Modules for webhooks and notifications accept only the product names of the services.
    SERVICE_NAMES: 'vendor',
    // The collections of the distribution contain the plugin that reads an inventory of an installation.
    AWX_TASK_ENV: JSON.stringify({ ANSIBLE_COLLECTIONS_PATH: '/usr/lib/python3/dist-packages' }),
  };
  api = await ApiCalls.inside(cluster, environment);
  await cluster.workerInside(environment);

  const made = await runModules(objects());
  const changed = await runModules(changes());
  const started = await runModules(await runs());
  const run = [...started, ...(await runModules(waits(started[RUN.started]?.[0]?.id)))];
  const page = await api.call('GET', 'hosts/?inventory__name=Machines&order_by=name');
  hosts = (page.results as Params[]).map(({ name, enabled }) => [name, enabled]);
  scripts = [await scriptOf('Machines'), await scriptOf('Copied')];
  results = { made, changed, run, removed: await runModules(removals()) };
}, 120_000);
afterAll(() => cluster.stop());

/**
 * Program that runs modules as Ansible does, each with the parameters of its line, and prints the results.
 */
const RUN_MODULES = `
import importlib, io, json, os, sys
from ansible.module_utils import basic
# Most of the time of a module would go to certificates, of which http needs none.
os.environ['SSL_CERT_FILE'] = os.devnull
for line in sys.stdin:
    name, params = json.loads(line)
    module = importlib.import_module('ansible_collections.awx.awx.plugins.modules.' + name)
    basic._ANSIBLE_ARGS = json.dumps({'ANSIBLE_MODULE_ARGS': params}).encode()
    sys.stdout = printed = io.StringIO()
    try:
        module.main()
    except SystemExit:
        pass
    print(printed.getvalue().strip(), file=sys.__stdout__)
`;

/** Runs tasks one after the other and returns the results by task and repetition. */
async function runModules(tasks: readonly Task[]): Promise<Result[][]> {
  const access = {
    ...{ controller_host: api.url, validate_certs: false },
    controller_oauthtoken: api.authorization.replace('Bearer ', ''),
  };
  const lines = tasks.flatMap(([module, params, turns = 1]) =>
    Array.from({ length: turns }, () => JSON.stringify([module, { ...access, ...params }])),
  );
  const printed = (await linesOfPythonAside(RUN_MODULES, lines, PYTHON_OF_SYSTEM)).map(
    (line) => JSON.parse(line) as Result,
  );
  return tasks.map(([, , turns = 1]) => printed.splice(0, turns));
}

/** Runs tasks one after the other with `ansible-playbook` and returns the result of each. */
async function play(tasks: readonly Task[]): Promise<Result[]> {
  const file = join(cluster.folder, 'play.yml');
  const listed = tasks.map(([module, params]) => ({ [`awx.awx.${module}`]: params }));
  // YAML includes JSON.
  writeFileSync(file, JSON.stringify([{ hosts: 'localhost', gather_facts: false, tasks: listed }]));
  const text = await new Promise<string>((resolve) => {
    const env = {
      ...process.env,
      ...{ ANSIBLE_STDOUT_CALLBACK: 'ansible.posix.json', ANSIBLE_LOCALHOST_WARNING: 'False' },
      ...{ CONTROLLER_HOST: api.url, CONTROLLER_VERIFY_SSL: 'False' },
      CONTROLLER_OAUTH_TOKEN: api.authorization.replace('Bearer ', ''),
    };
    execFile('/usr/bin/ansible-playbook', [file], { env }, (_error, stdout) => resolve(stdout));
  });
  interface Told {
    plays: [{ tasks: { hosts: { localhost: Result } }[] }];
  }
  const [{ tasks: printed }] = (JSON.parse(text.slice(text.indexOf('{'))) as Told).plays;
  return printed.map(({ hosts }) => hosts.localhost);
}

/** Returns by object name whether each result is a change, or the reason of its failure. */
function shown(tasks: readonly Task[], printed: readonly Result[][]): unknown[] {
  return tasks.map(([module, { name }], index) => [
    `${module} ${String(name)}`,
    ...(printed[index] ?? []).map(({ failed, changed, msg }) => (failed ? msg : changed)),
  ]);
}

/** Asserts that every task reports a change the first time, and none after that. */
function expectIdempotent(tasks: readonly Task[], printed: readonly Result[][]): void {
  expect(shown(tasks, printed)).toEqual(
    tasks.map(([module, { name }, turns = 1]) => [
      `${module} ${String(name)}`,
      ...Array.from({ length: turns }, (_, turn) => turn === 0),
    ]),
  );
}

const organization = 'Team';
const inventory = 'Machines';
const scm = () => ({ scm_type: 'git', scm_url: `file://${cluster.folder}/repository` });

/** Returns the objects to create. Each refers only to objects before it. */
const described = (): [module: string, params: Params][] => [
  ['organization', { name: organization, description: 'Ours', max_hosts: 50 }],
  [
    'credential_type',
    {
      ...{ name: 'Token of a shop', kind: 'cloud' },
      inputs: { fields: [{ id: 'token', label: 'Token', secret: true }], required: ['token'] },
      injectors: { env: { SHOP_TOKEN: '{{ token }}' } },
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
  // The credential above gets its password from a store that does not exist.
  ['credential', { name: 'Plain', organization, credential_type: 'Machine' }],
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
    },
  ],
  // This source is not updated, because its image does not exist.
  [
    'inventory_source',
    {
      ...{ name: 'Boxed', inventory, organization, source: 'scm', source_project: 'Code' },
      ...{ source_path: 'hosts.ini', execution_environment: 'Tools' },
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
  ['execution_environment', { name: 'Everywhere', image: 'registry.example/tools:1' }],
  ['organization', { name: 'Boxes', default_environment: 'Everywhere', instance_groups: ['Near'] }],
  [
    'project',
    { name: 'Boxed code', organization: 'Boxes', default_environment: 'Everywhere', ...scm() },
  ],
  [
    'credential',
    {
      ...{ name: 'Forge', organization, credential_type: 'GitHub Personal Access Token' },
      ...{ update_secrets: false, inputs: { token: 't' } },
    },
  ],
  [
    'job_template',
    {
      ...{ name: 'Pushed', organization, project: 'Code', inventory, playbook: 'site.yml' },
      ...{ webhook_service: 'github', webhook_credential: 'Forge' },
      execution_environment: 'Everywhere',
    },
  ],
  ['workflow_job_template', { name: 'Merged', organization, webhook_service: 'gitlab', inventory }],
  [
    'notification_template',
    {
      ...{ name: 'Room', organization, notification_type: 'mattermost' },
      notification_configuration: { mattermost_url: 'https://chat.example/hooks/1' },
    },
  ],
];

const objects = (): Task[] => described().map(([module, params]): Task => [module, params, 2]);

const changes = (): Task[] =>
  (
    [
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
    ] satisfies Task[]
  ).map(([module, params]): Task => [module, params, REPEATED]);

/** Returns the tasks that start runs, in the order of `RUN`. */
async function runs(): Promise<Task[]> {
  const login = { host: api.url, oauth_token: api.authorization.replace('Bearer ', '') };
  const { results: found } = await api.call('GET', 'inventories/?name=Machines');
  const [{ id }] = found as [Row];
  const source = { name: 'Files', inventory, organization };
  const wait = { wait: true, interval: 0.2 };
  const copy = { name: 'Copy', inventory: 'Copied', organization };
  const command = { inventory, credential: 'Plain', limit: 'one', module_name: 'command' };
  return [
    ['project_update', { name: 'Code', organization, ...wait }, 2],
    ['inventory_source_update', { ...source, ...wait }, 2],
    ['group', { name: 'webs', inventory, hosts: ['web1', 'web2'] }],
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
    ['inventory_source_update', { ...copy, ...wait }],
    ['ad_hoc_command', { ...command, module_name: 'ping', ...wait }],
    ['ad_hoc_command', { ...command, module_name: 'no such thing' }],
    ['ad_hoc_command', { ...command, module_args: 'sleep 300' }],
  ];
}

/** Returns the tasks that wait for the last command of `runs`. */
function waits(command_id: unknown): Task[] {
  const waiting = { interval: 0.2, timeout: 60 };
  return [
    ['ad_hoc_command_cancel', { command_id, ...waiting }, 2],
    ['ad_hoc_command_wait', { command_id, ...waiting }],
    ['ad_hoc_command_wait', { command_id: 99_999, ...waiting }],
  ];
}

/** Indexes of tasks in `runs`, continued in `waits`. */
const RUN = {
  ...{ synced: 0, updated: 1, read: 2, copied: 6 },
  ...{ pinged: 7, refused: 8, started: 9, canceled: 10, waited: 11, unknown: 12 },
};

/** Returns the removals. Deleting a group deletes its members, and labels disappear with their last use. */
const removals = (): Task[] =>
  described()
    .filter(([, { name }]) => !['inner', 'one', 'x', 'y'].includes(String(name)))
    .toReversed()
    .map(([module, params]): Task => [module, { ...params, state: 'absent' }, REPEATED]);

async function scriptOf(name: string): Promise<Row> {
  const { results: found } = await api.call('GET', `inventories/?name=${name}`);
  const [row] = found as [Row];
  return api.call('GET', `inventories/${row.id}/script/`);
}

it('the modules create all objects for inventories and their use, once', () => {
  expectIdempotent(objects(), results.made);
});

it('the modules change each object once', () => {
  expectIdempotent(changes(), results.changed);
});

it('the modules update the source, and report the result', () => {
  const over = (changed: boolean) => ({ changed, status: 'successful' });
  // A sync reports a change only if the revision is another one.
  expect(results.run[RUN.synced]).toMatchObject([over(false), over(false)]);
  expect(results.run[RUN.updated]).toMatchObject([over(true), over(true)]);
  expect(results.run[RUN.read]).toMatchObject([{ changed: false }]);
  // Tasks without the parameter `enabled` leave hosts enabled.
  expect(hosts).toEqual(['one', 'two', 'web1', 'web2'].map((name) => [name, true]));
});

it('the inventory plugin reads an inventory of an installation', () => {
  expect(results.run[RUN.copied]).toMatchObject([{ status: 'successful' }]);
  const [original, copy] = scripts;
  expect(copy).toEqual(original);
});

it('the modules run commands, wait for them and cancel them', () => {
  expect(results.run[RUN.pinged]).toMatchObject([{ status: 'successful' }]);
  expect(JSON.stringify(results.run[RUN.refused]?.[0]?.response)).toContain(
    'is not a valid choice.',
  );
  expect(results.run[RUN.canceled]).toMatchObject([{ changed: true }, { changed: false }]);
  expect(results.run[RUN.waited]).toMatchObject([{ status: 'canceled' }]);
  expect(results.run[RUN.unknown]?.[0]).toMatchObject({ failed: true });
});

it('the modules remove every object', async () => {
  expectIdempotent(removals(), results.removed);
  const { count } = await api.call('GET', `job_templates/?name=Site`);
  expect(count).toBe(0);
});

it('the modules run in Ansible, and read the address of the API from the environment', async () => {
  const task: Task = ['label', { name: 'Played', organization: 'Operations' }];
  expect(await play([task, task])).toMatchObject([{ changed: true }, { changed: false }]);
});

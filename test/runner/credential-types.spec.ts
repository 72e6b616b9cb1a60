import { join } from 'node:path';

import { Settings } from '../../src/config/settings.js';
import type { CombinedCredential } from '../../src/credentials/types/combination.js';
import { managedCredentialType } from '../support/managed-credential-type.js';
import { SandboxService } from '../../src/execution/sandbox/sandbox.service.js';
import { sandboxOfRun } from '../../src/execution/sandbox/run-sandbox.js';
import { toEventRow } from '../../src/execution/runner/events.js';
import { createMasker } from '../../src/execution/runner/masker.js';
import type { PreparedRun } from '../../src/execution/runner/ansible-run.js';
import { preparePlaybookRun } from '../../src/execution/runner/playbook-run.js';
import { startRun } from '../../src/execution/runner/run-process.js';
import { createWorkspace, removeDirectory } from '../../src/execution/runner/workspace.js';
import { ActiveRun } from '../../src/execution/worker/active-runs.service.js';
import {
  credentialProperties,
  JobCredentials,
} from '../../src/execution/worker/job-credentials.service.js';
import type { EventRow } from '../../src/runs/events/job-events.repository.js';
import { sampleKeys } from '../support/payloads/ssh-keys.js';
import { createTestFolder, LOCAL_INVENTORY, type TestFolder } from './playbooks.js';

const KEY = `${(sampleKeys().plain['pkcs8'] ?? '').trim()}\n`;
const HOST = 'https://cloud.example.com';

/** Inputs of one credential of each shipped type for jobs. Every secret contains the word `canary`. */
const INPUTS: Record<string, Record<string, string>> = {
  net: { username: 'net-user', password: 'canary-net' },
  aws: { username: 'AKIA', password: 'canary-aws', security_token: 'canary-sts' },
  azure_rm: { subscription: 'sub', client: 'id', secret: 'canary-azure', tenant: 'ten' },
  gce: { username: 'me@x', project: 'g-project', ssh_key_data: KEY },
  vmware: { host: 'vc.example.com', username: 'v-user', password: 'canary-vmware' },
  openstack: { host: HOST, username: 'o-user', password: 'canary "é"', project: 'o-project' },
  terraform: { configuration: 'canary-tf = 1\nbucket = "x"\n', gce_credentials: '{"canary": 1}' },
  satellite6: { host: HOST, username: 's-user', password: 'canary-satellite' },
  rhv: { host: HOST, username: 'r-user', password: 'canary-50%-rhv' },
  controller: { host: HOST, username: 'c-user', password: 'canary-aap' },
  kubernetes_bearer_token: { host: HOST, bearer_token: 'canary-k8s', ssl_ca_cert: 'canary-ca\n' },
};

/**
 * Prints the environment, the text and mode of the files that it names, and the values that parsers of
 * their formats read.
 */
const LOOK = `import configparser, json, os, sys, yaml
files, modes = {}, {}
for name, value in os.environ.items():
    if value.startswith('/runner/env/'):
        files[name] = open(value).read()
        modes[name] = oct(os.stat(value).st_mode & 0o777)
ini = configparser.ConfigParser()
ini.read(os.environ['OVIRT_INI_PATH'])
json.dump({
    'env': dict(os.environ), 'files': files, 'modes': modes,
    'google': json.load(open(os.environ['GOOGLE_APPLICATION_CREDENTIALS'])),
    'openstack': yaml.safe_load(open(os.environ['OS_CLIENT_CONFIG_FILE'])),
    'ovirt': dict(ini['ovirt']),
}, sys.stdout)
`;

let folder: TestFolder;
let prepared: PreparedRun;
let events: EventRow[];
let masked: EventRow[];
let seen: {
  env: Record<string, string>;
  files: Record<string, string>;
  modes: Record<string, string>;
  google: unknown;
  openstack: unknown;
  ovirt: unknown;
};

beforeAll(async () => {
  folder = await createTestFolder();
  const settings = Settings.load({
    ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
    ...{ DATA_DIR: join(folder.dir, 'data'), JOB_ISOLATION: 'bubblewrap' },
  });
  const sandbox = new SandboxService(settings, undefined as never);
  const workspace = await createWorkspace(folder.runsDir, 6000, 1, await sandbox.innerDir());
  const opened = new Map(
    Object.entries(INPUTS).map(([namespace, inputs], id): [number, CombinedCredential] => {
      const type = managedCredentialType(namespace);
      if (!type) throw new Error(`no type ${namespace}`);
      return [id, { name: namespace, type, inputs }];
    }),
  );
  const credentials = new JobCredentials(
    { open: async () => opened } as never,
    {
      get: async () => ({ AWX_TASK_ENV: { SITE: 'north', AWS_ACCESS_KEY_ID: 'of the setting' } }),
    } as never,
  );
  const plan = await credentials.open(new ActiveRun(1, 1), [...opened.keys()], { workspace });
  const projectDir = await folder.write('project', {
    'look.py': LOOK,
    'site.yml': `- hosts: alpha
  gather_facts: false
  tasks:
    - {command: /usr/bin/python3 look.py, name: look}
    - {debug: {msg: "{{ aap_hostname }} {{ aap_password }}"}, name: variables}
`,
  });
  prepared = await preparePlaybookRun(
    {
      ...{ jobId: 6000, attempt: 1, projectDir, copyProject: true, playbook: 'site.yml' },
      ...{ inventory: LOCAL_INVENTORY, jobType: 'run', limit: 'alpha' },
      ...credentialProperties(plan),
      extraVars: plan.extraVars,
    },
    workspace,
  );
  const spec = await sandboxOfRun(workspace, [], true);
  events = [];
  const handle = startRun(prepared, {
    onEvents: (batch) => void events.push(...batch.map(toEventRow)),
    wrap: (command) => sandbox.wrap(command, spec),
  });
  expect(await handle.wait()).toMatchObject({ status: 'successful' });
  await removeDirectory(workspace.root);
  const masker = createMasker(plan.secrets);
  masked = masker.events(events);
  const look = events.find(({ event, task }) => event === 'runner_on_ok' && task === 'look');
  const { res } = look?.eventData as { res: { stdout: string } };
  seen = JSON.parse(res.stdout);
});
afterAll(() => folder.remove());

it('a playbook gets the variables of every type', () => {
  const files = Object.fromEntries(
    Object.keys(seen.files).map((name) => [name, expect.anything()]),
  );
  expect(seen.env).toMatchObject({
    ...files,
    ...{ ANSIBLE_NET_USERNAME: 'net-user', ANSIBLE_NET_PASSWORD: 'canary-net' },
    SITE: 'north',
    ...{ AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'canary-aws' },
    ...{ AWS_SECURITY_TOKEN: 'canary-sts', AWS_SESSION_TOKEN: 'canary-sts' },
    ...{ AZURE_SUBSCRIPTION_ID: 'sub', AZURE_CLIENT_ID: 'id', AZURE_TENANT: 'ten' },
    ...{ AZURE_SECRET: 'canary-azure', GCP_AUTH_KIND: 'serviceaccount', GCP_ENV_TYPE: 'tower' },
    ...{ GCP_PROJECT: 'g-project', GCE_PROJECT: 'g-project', GCE_EMAIL: 'me@x' },
    ...{ VMWARE_HOST: 'vc.example.com', VMWARE_USER: 'v-user' },
    ...{ VMWARE_PASSWORD: 'canary-vmware', VMWARE_VALIDATE_CERTS: 'True' },
    ...{ FOREMAN_SERVER: HOST, FOREMAN_USER: 's-user', FOREMAN_PASSWORD: 'canary-satellite' },
    ...{ OVIRT_URL: HOST, OVIRT_USERNAME: 'r-user', OVIRT_PASSWORD: 'canary-50%-rhv' },
    ...{ TOWER_HOST: HOST, CONTROLLER_USERNAME: 'c-user', AAP_PASSWORD: 'canary-aap' },
    ...{ K8S_AUTH_HOST: HOST, K8S_AUTH_API_KEY: 'canary-k8s', K8S_AUTH_VERIFY_SSL: 'True' },
  });
});

it('a playbook gets the files, readable by its account only, in the expected formats', () => {
  expect(Object.keys(seen.files).toSorted()).toEqual([
    'GCE_CREDENTIALS_FILE_PATH',
    'GCP_SERVICE_ACCOUNT_FILE',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GOOGLE_BACKEND_CREDENTIALS',
    'K8S_AUTH_SSL_CA_CERT',
    'OS_CLIENT_CONFIG_FILE',
    'OVIRT_INI_PATH',
    'TF_BACKEND_CONFIG_FILE',
  ]);
  expect(new Set(Object.values(seen.modes))).toEqual(new Set(['0o600']));
  expect(seen.files).toMatchObject({
    TF_BACKEND_CONFIG_FILE: 'canary-tf = 1\nbucket = "x"\n',
    GOOGLE_BACKEND_CREDENTIALS: '{"canary": 1}',
    K8S_AUTH_SSL_CA_CERT: 'canary-ca\n',
  });
  expect(seen.google).toMatchObject({ client_email: 'me@x', private_key: KEY });
  const auth = { auth_url: HOST, username: 'o-user', project_name: 'o-project' };
  expect(seen.openstack).toEqual({
    clouds: { devstack: { auth: { ...auth, password: 'canary "é"' }, verify: true } },
  });
  expect(seen.ovirt).toEqual({
    ...{ ovirt_url: HOST, ovirt_username: 'r-user', ovirt_password: 'canary-50%-rhv' },
  });
});

it('a playbook gets the extra variables', () => {
  const { stdout = '' } =
    events.find(({ event, task }) => event === 'runner_on_ok' && task === 'variables') ?? {};
  expect(stdout).toContain(`${HOST} canary-aap`);
});

it('the secrets do not appear in events or in files of the job', () => {
  const [, middle = 'missing'] = KEY.split('\n');
  const canariesIn = (value: unknown): string[] =>
    ['canary', middle].filter((secret) => JSON.stringify(value).includes(secret));
  expect(canariesIn(events)).toEqual(['canary', middle]);
  expect(canariesIn(masked)).toEqual([]);
  expect(canariesIn(prepared.jobEnv)).toEqual([]);
  expect(prepared.jobEnv).toMatchObject({ AWS_ACCESS_KEY_ID: 'AKIA', VMWARE_USER: 'v-user' });
});

/**
 * Budget: 30 s, because an API, a worker and four runs of Ansible start.
 *
 * Ansible executes all foreign code in the sandbox: programs named by its settings, plugins of collections
 * and inventories, the arguments of an ad hoc command.
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { basename, join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { IS_DEEP } from '../support/depth.js';
import { TestRepository } from '../runner/git-servers.js';
import { CanaryFiles } from './canary-files.js';
import { ATTACK } from './hostile-programs.js';

const RUN_MS = 60_000;

const COLLECTION = 'collections/ansible_collections/evil/tools';

/** Python that attacks from within the process that has loaded it. */
const LOADED = `
import json, os, subprocess
def attack(target):
    folder = os.path.dirname(__file__)
    while not os.path.exists(os.path.join(folder, 'attack.py')): folder = os.path.dirname(folder)
    program = os.path.join(folder, 'attack.py')
    return json.loads(subprocess.check_output(['python3', program, target]))
`;
const FILTER = `${LOADED}
class FilterModule:
    def filters(self):
        return {'attack': attack}
`;
const INVENTORY_PLUGIN = `${LOADED}
from ansible.plugins.inventory import BaseInventoryPlugin
class InventoryModule(BaseInventoryPlugin):
    NAME = 'evil'
    def verify_file(self, path):
        return path.endswith('.evil')
    def parse(self, inventory, loader, path, cache=True):
        inventory.add_host('witness')
        inventory.set_variable('witness', 'found', attack(os.environ['TARGET']))
`;

const play = (filter: string): string => `- hosts: all
  gather_facts: false
  tasks:
    - set_stats: {data: {found: "{{ target | ${filter} }}"}}
`;

const CONTENT = {
  'attack.py': ATTACK,
  'ansible.cfg': `[defaults]
filter_plugins = ./named
inventory_plugins = ./inventories
[inventory]
enable_plugins = evil, script
`,
  'named/evil.py': FILTER,
  'inventories/evil.py': INVENTORY_PLUGIN,
  [`${COLLECTION}/galaxy.yml`]: 'namespace: evil\nname: tools\nversion: 1.0.0\n',
  [`${COLLECTION}/plugins/filter/evil.py`]: FILTER,
  'hosts.evil': '',
  'named.yml': play('attack'),
  'collection.yml': play('evil.tools.attack'),
};

let cluster: Cluster;
let api: ApiCalls;
let canaries: CanaryFiles;
let project: Row;
let settings: Record<string, string>;
beforeAll(async () => {
  cluster = await Cluster.start();
  const repository = await TestRepository.create(join(cluster.folder, 'origin'), CONTENT);
  settings = { PROJECT_SCM_SCHEMES: 'file', PROJECT_FILE_ROOTS: cluster.folder };
  api = await ApiCalls.inside(cluster, settings);
  canaries = await CanaryFiles.plant(cluster);
  project = await api.call('POST', 'projects/', {
    ...{ name: 'Hostile', organization: 1, scm_type: 'git', scm_url: repository.url },
  });
}, 90_000);
afterAll(() => cluster.stop());

const ended = ({ id }: Row): Promise<unknown> => cluster.becomes(id, 'successful', RUN_MS);

/** Ways into a run. Each returns the secrets that the attack found. */
const WAYS: [name: string, attack: (target: string) => Promise<string[]>][] = [
  ['a plugin that ansible.cfg names', (target) => fromPlaybook('named.yml', target)],
  ['a plugin of a collection', (target) => fromPlaybook('collection.yml', target)],
  ['an inventory plugin', fromInventory],
  ['an ad hoc command', fromCommand],
];

async function fromPlaybook(playbook: string, target: string): Promise<string[]> {
  const template = await api.call('POST', 'job_templates/', {
    ...{ name: randomUUID(), inventory: 1, project: project.id, playbook },
    extra_vars: JSON.stringify({ target }),
  });
  const job = await api.call('POST', `job_templates/${template.id}/launch/`, {});
  await ended(job);
  const { artifacts } = await api.call('GET', `jobs/${job.id}/`);
  return (artifacts as { found: string[] }).found;
}

async function fromInventory(target: string): Promise<string[]> {
  const inventory = await api.call('POST', 'inventories/', {
    ...{ name: randomUUID(), organization: 1 },
  });
  const source = await api.call('POST', 'inventory_sources/', {
    ...{ name: 'Hostile', inventory: inventory.id, source: 'scm', source_project: project.id },
    ...{ source_path: 'hosts.evil', source_vars: JSON.stringify({ TARGET: target }) },
  });
  await ended(await api.call('POST', `inventory_sources/${source.id}/update/`, {}));
  const { _meta: meta } = await api.call('GET', `inventories/${inventory.id}/script/?hostvars=1`);
  return (meta as { hostvars: { witness: { found: string[] } } }).hostvars.witness.found;
}

async function fromCommand(target: string): Promise<string[]> {
  const [type] = await cluster.rows<{ id: number }>(
    `SELECT id FROM credential_types WHERE kind = 'ssh'`,
  );
  const credential = await api.call('POST', 'credentials/', {
    ...{ name: randomUUID(), organization: 1, credential_type: type?.id },
  });
  const program = Buffer.from(ATTACK).toString('base64');
  const command = await api.call('POST', 'ad_hoc_commands/', {
    ...{ inventory: 1, credential: credential.id, module_name: 'shell' },
    module_args: `echo ${program} | base64 -d | python3 - ${target}`,
  });
  await ended(command);
  const url = `ad_hoc_commands/${command.id}/stdout/?format=txt`;
  const output = await api.text('GET', url, undefined, 'text/plain');
  return JSON.parse(/^\[.*\]$/m.exec(output)?.[0] ?? '') as string[];
}

let worker: ChildProcess;
async function startWorker(isolation: string): Promise<string> {
  ({ child: worker } = await cluster.worker({ ...settings, JOB_ISOLATION: isolation }));
  // A checkout borrows objects from the repository of its project.
  return canaries.target(worker.pid, ['projects', String(project.local_path)]);
}
async function endWorker(): Promise<void> {
  worker.kill('SIGTERM');
  await once(worker, 'exit');
}

describe('in the sandbox', () => {
  let target: string;
  beforeAll(async () => {
    target = await startWorker('bubblewrap');
  }, 60_000);
  afterAll(endWorker);

  it.each(WAYS)(
    '%s finds no secrets',
    async (_name, attack) => {
      expect(await attack(target)).toEqual([]);
    },
    2 * RUN_MS,
  );
});

// A normal run tests the same attack without a sandbox in run-sandbox.e2e-spec.ts. Only an attack that ran
// prints an empty list.
if (IS_DEEP) {
  describe('without the sandbox', () => {
    let target: string;
    beforeAll(async () => {
      target = await startWorker('none');
    }, 60_000);
    afterAll(endWorker);

    it.each(WAYS)(
      '%s finds the secrets of the installation',
      async (_name, attack) => {
        expect(await attack(target)).toEqual(
          expect.arrayContaining([
            ...canaries.paths.map((path) => `read ${basename(path)}`),
            'read the environment of the worker',
          ]),
        );
      },
      2 * RUN_MS,
    );
  });
}

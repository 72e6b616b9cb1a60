import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { pathWithPrograms } from '../services/tools.mjs';
import { dataFolder } from './connection.mjs';

const run = promisify(execFile);

/** Inventory plugin that reads the machines of a register, in groups by purpose. */
const PLUGIN = `DOCUMENTATION = '''
name: register
short_description: Machines of a register
options:
  plugin:
    description: The name of this plugin.
    required: true
  register:
    description: The file of the register, in the folder of this file.
    required: true
'''

import json
import os

from ansible.plugins.inventory import BaseInventoryPlugin


class InventoryModule(BaseInventoryPlugin):
    NAME = 'demo.fleet.register'

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith('fleet.yml')

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        with open(os.path.join(os.path.dirname(path), self.get_option('register'))) as register:
            machines = json.load(register)
        for name, machine in machines.items():
            inventory.add_group(machine['purpose'])
            inventory.add_host(name, machine['purpose'])
            for key, value in machine.items():
                inventory.set_variable(name, key, value)
`;

const COLLECTION = {
  'galaxy.yml': `namespace: demo
name: fleet
version: 1.0.0
readme: README.md
authors: [Demo]
`,
  'README.md': 'Machines of a register, and a role for them.\n',
  'meta/runtime.yml': "requires_ansible: '>=2.9'\n",
  'plugins/inventory/register.py': PLUGIN,
  'roles/survey/tasks/main.yml': `- name: Store facts of the machine
  ansible.builtin.set_fact:
    survey: {purpose: "{{ purpose }}", critical: "{{ inventory_hostname in groups.critical }}"}
    cacheable: true
- name: Show the facts
  ansible.builtin.debug:
    msg: "{{ inventory_hostname }} is for {{ purpose }} in rack {{ rack }}"
`,
};

const PLAYBOOK = `---
- name: Survey the machines
  hosts: all
  gather_facts: false
  roles: [demo.fleet.survey]
`;

/**
 * Returns the files of a project: a register, the plugin file that reads it, and the required collections.
 */
export const projectFiles = async (machines) => ({
  'collections/requirements.yml':
    'collections: [{name: ./vendor/demo-fleet-1.0.0.tar.gz, type: file}]\n',
  'vendor/demo-fleet-1.0.0.tar.gz': await collectionArchive(),
  'inventory/fleet.yml': 'plugin: demo.fleet.register\nregister: machines.json\n',
  'survey.yml': PLAYBOOK,
  ...register(machines),
});

/** Returns only the register, for a commit that changes the register. */
export const register = (machines) => ({
  'inventory/machines.json': `${JSON.stringify(machines, null, 2)}\n`,
});

async function collectionArchive() {
  const folder = await mkdtemp(join(tmpdir(), 'controller-demo-collection-'));
  try {
    for (const [path, text] of Object.entries(COLLECTION)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    await run('ansible-galaxy', ['collection', 'build', '--output-path', folder], {
      cwd: folder,
      env: { ...process.env, PATH: pathWithPrograms({ dataDir: dataFolder() }), HOME: folder },
    });
    return await readFile(join(folder, 'demo-fleet-1.0.0.tar.gz'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

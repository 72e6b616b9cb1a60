/**
 * Budget: 40 s, because containers start and Ansible runs in them.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { Containers, MAY_USE_CONTAINERS } from '../support/containers.js';

const FILES = {
  'site.yml': '- hosts: all\n  gather_facts: false\n  roles: [greet]\n',
  'roles/greet/tasks/main.yml': '- debug: {msg: a role of the project}\n',
  'hosts.ini': 'one ansible_connection=local\n',
};

/** Workers with container isolation execute every kind of run in a container. */
const describeHere = MAY_USE_CONTAINERS ? describe : describe.skip;
describeHere('a worker with a container engine as its sandbox', () => {
  let containers: Containers;
  let cluster: Cluster;
  let api: ApiCalls;
  let project: Row;
  let inventory: Row;

  const make = (path: string, fields: object): Promise<Row> => api.call('POST', path, fields);
  async function ended(path: string, id: unknown): Promise<Row & { output: string }> {
    const isEnded = await cluster.becomes(Number(id), 'successful', 60_000).catch(() => null);
    const output = await api.text(
      'GET',
      `${path}/${id}/stdout/?format=txt`,
      undefined,
      'text/plain',
    );
    if (!isEnded) throw new Error(output);
    return { ...(await api.call('GET', `${path}/${id}/`)), output };
  }

  function writeRepository(folder: string): void {
    for (const [name, content] of Object.entries(FILES)) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['add', '-A'],
      ['commit', '-qm', 'x'],
    ]) {
      execFileSync('git', [...author, ...args], { cwd: folder });
    }
  }

  beforeAll(async () => {
    containers = await Containers.prepare();
    cluster = await Cluster.start();
    const repository = join(cluster.folder, 'repository');
    writeRepository(repository);
    const settings = { PROJECT_SCM_SCHEMES: 'file', PROJECT_FILE_ROOTS: cluster.folder };
    api = await ApiCalls.inside(cluster, settings);
    await cluster.workerInside({ ...settings, ...containers.settings });
    const scm = { scm_type: 'git', scm_url: `file://${repository}` };
    project = await make('projects/', { name: 'Tools', organization: 1, ...scm });
    inventory = await make('inventories/', { name: 'Hosts', organization: 1 });
    const variables = 'ansible_connection: local';
    await make('hosts/', { name: 'one', inventory: inventory.id, variables });
  });
  afterAll(async () => {
    await cluster.stop();
    await containers.remove();
  });

  it('reports the sandbox in ping, instances and metrics', async () => {
    expect(await api.call('GET', 'ping/')).toMatchObject({
      isolation: ['container'],
      warnings: [],
    });
    const { results } = await api.call('GET', 'instances/');
    expect(results).toEqual([
      expect.objectContaining({
        isolation: 'container',
        isolation_detail: expect.stringMatching(
          /^containers of localhost\/machine:latest by podman/,
        ) as string,
        errors: '',
      }),
    ]);
    const { controller_instances: machines } = await api.call('GET', 'metrics/');
    expect(machines).toMatchObject({ samples: [{ value: 1, labels: { isolation: 'container' } }] });
  });

  it('syncs projects', async () => {
    // A new project is synced immediately.
    const path = `projects/${project.id}/project_updates/?order_by=id`;
    const [first] = (await api.call('GET', path)).results as [Row];
    const { output } = await ended('project_updates', first.id);
    expect(output).toMatch(/^Revision: [0-9a-f]{40}$/m);
  });

  it('updates inventories', async () => {
    const inventory = await make('inventories/', { name: 'Updated', organization: 1 });
    const source = await make('inventory_sources/', {
      ...{ name: 'File', inventory: inventory.id, source: 'scm' },
      ...{ source_project: project.id, source_path: 'hosts.ini' },
    });
    const { inventory_update: id } = await make(`inventory_sources/${source.id}/update/`, {});
    expect(await ended('inventory_updates', id)).toMatchObject({ isolation: 'container' });
    const { results } = await api.call('GET', `inventories/${inventory.id}/hosts/`);
    expect((results as Row[]).map(({ name }) => name)).toEqual(['one']);
  });

  it('runs playbooks and commands', async () => {
    const template = await make('job_templates/', {
      ...{ name: 'Greet', project: project.id, inventory: inventory.id, playbook: 'site.yml' },
    });
    const { job } = await make(`job_templates/${template.id}/launch/`, {});
    const run = await ended('jobs', job);
    expect(run).toMatchObject({ isolation: 'container', job_cwd: '/runner/project' });
    expect(run.output).toContain('a role of the project');
    const { results } = await api.call('GET', 'credential_types/?kind=ssh');
    const credential = await make('credentials/', {
      ...{ name: 'Machine', organization: 1, credential_type: (results as Row[])[0]?.id },
    });
    const { id } = await make('ad_hoc_commands/', {
      ...{ inventory: inventory.id, credential: credential.id, module_name: 'command' },
      module_args: 'cat /run/.containerenv',
    });
    const command = await ended('ad_hoc_commands', id);
    expect(command).toMatchObject({ isolation: 'container', failed: false });
    expect(command.output).toContain('CHANGED');
  });
});

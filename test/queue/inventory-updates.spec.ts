/**
 * Budget: 40 s, because each of some twenty updates syncs a project and starts Ansible.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { eventually } from '../support/eventually.js';

const script = (...lines: string[]): string => `#!/bin/sh\n${lines.join('\n')}\n`;

/** Inventories of the kinds that users keep in a project, by path. */
const FILES: Record<string, string> = {
  'hosts.ini': `lone
[::1]:22
[webs]
web1:2222 color=red
web[3:4]
[webs:vars]
tier=front
[prod:children]
webs
[all:vars]
dns=1.2.3.4
`,
  'list.yaml': 'apps: {hosts: {y1: {a: 1}}, vars: {tier: back}}\n',
  'folder/hosts': '[apps]\nf1\n',
  'folder/group_vars/apps.yml': 'tier: back\n',
  'folder/host_vars/f1.yml': 'a: 1\n',
  'broken.yaml': 'apps: {hosts: [\n',
  'failing.sh': script('echo this is why >&2', 'exit 1'),
  'environment.sh': script(
    'echo "words: $WORD $OURS" >&2',
    `printf '{"_meta":{"hostvars":{"e1":{"word":"%s","list":%s,"preload":"%s"}}},"apps":{"hosts":["e1"]}}' \\`,
    '  "$WORD" "$LIST" "$LD_PRELOAD"',
  ),
  'slow.sh': script('sleep 60'),
  'states.yaml': `all:
  hosts:
    up-1: {state: {power: running}}
    up-2: {state: {power: stopped}}
    silent: {}
    db-up: {}
  children:
    webs: {hosts: {up-1: {}, up-2: {}}}
`,
};

/**
 * Inventories are read by the real `ansible-inventory` from a real repository, in any sandbox that the
 * machine supports.
 */
describe('an update of an inventory from a project', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let repository: string;
  let project: Row;
  let counter = 0;

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: repository,
      encoding: 'utf8',
    }).trim();

  /** @returns the commit */
  function commit(files: Record<string, string | null>): string {
    for (const [name, content] of Object.entries(files)) {
      const path = join(repository, name);
      mkdirSync(dirname(path), { recursive: true });
      if (content === null) rmSync(path);
      else writeFileSync(path, content);
      if (name.endsWith('.sh')) chmodSync(path, 0o755);
    }
    git('add', '-A');
    git('commit', '-qm', 'x');
    return git('rev-parse', 'HEAD');
  }

  const make = (path: string, fields: object) => api.call('POST', path, fields);
  const projectOf = (fields: object): Promise<Row> => {
    const scm = { scm_type: 'git', scm_url: `file://${repository}`, allow_override: true };
    return make('projects/', { name: `P${(counter += 1)}`, organization: 1, ...scm, ...fields });
  };
  const inventory = (): Promise<Row> =>
    make('inventories/', { name: `I${(counter += 1)}`, organization: 1 });

  /** Creates a source in a new inventory. */
  async function sourceOf(fields: object): Promise<Row> {
    const { id } = await inventory();
    return make('inventory_sources/', {
      ...{ name: `S${(counter += 1)}`, inventory: id, source: 'scm', source_project: project.id },
      ...fields,
    });
  }

  async function update({ id }: Row, status = 'successful'): Promise<Row & { output: string }> {
    const { inventory_update: run } = await make(`inventory_sources/${id}/update/`, {});
    await cluster.becomes(run as number, status, 60_000);
    const path = `inventory_updates/${run}/`;
    const output = await api.text('GET', `${path}stdout/?format=txt`, undefined, 'text/plain');
    return { ...(await api.call('GET', path)), output };
  }

  const scriptOf = (source: Row) =>
    api.call('GET', `inventories/${source.inventory}/script/?hostvars=1`);
  const hostsOf = async (source: Row): Promise<Row[]> =>
    (await api.call('GET', `inventories/${source.inventory}/hosts/`)).results as Row[];

  beforeAll(async () => {
    cluster = await Cluster.start({ concurrency: 4 });
    repository = join(cluster.folder, 'repository');
    mkdirSync(repository);
    git('init', '-q', '-b', 'main');
    symlinkSync('/etc/passwd', join(repository, 'outside'));
    commit(FILES);
    const environment = { PROJECT_SCM_SCHEMES: 'file', PROJECT_FILE_ROOTS: cluster.folder };
    api = await ApiCalls.inside(cluster, environment);
    await cluster.workerInside(environment);
    project = await projectOf({});
  });
  afterAll(() => cluster.stop());

  it('imports the content of a file of the project, with complete output in lines', async () => {
    const source = await sourceOf({ source_path: 'hosts.ini', verbosity: 2 });
    const run = await update(source);
    expect(await scriptOf(source)).toEqual({
      all: { children: ['prod', 'webs'], hosts: ['::1', 'lone'], vars: { dns: '1.2.3.4' } },
      prod: { children: ['webs'] },
      webs: { hosts: ['web1', 'web3', 'web4'], vars: { tier: 'front' } },
      _meta: {
        hostvars: {
          '::1': { ansible_port: 22 },
          ...{ lone: {}, web1: { ansible_port: 2222, color: 'red' }, web3: {}, web4: {} },
        },
      },
    });
    for (const { description } of await hostsOf(source)) expect(description).toBe('imported');
    expect(run).toMatchObject({
      ...{ launch_type: 'manual', source_project: project.id, failed: false },
      ...{ scm_revision: git('rev-parse', 'HEAD'), event_processing_finished: true },
      ...{ changes: { hosts: { added: 5 }, groups: { added: 2 }, variables: true } },
      job_args: expect.stringContaining('ansible-inventory'),
    });
    const sync = await api.call('GET', `project_updates/${run.source_project_update}/`);
    expect(sync).toMatchObject({ launch_type: 'sync', status: 'successful' });
    expect(await api.call('GET', `inventory_sources/${source.id}/`)).toMatchObject({
      ...{ status: 'successful', last_updated: run.finished, last_update_failed: false },
    });
    const shown = await api.call('GET', `inventories/${source.inventory}/`);
    expect(shown).toMatchObject({
      ...{ total_hosts: 5, total_groups: 2, has_inventory_sources: true },
      ...{ total_inventory_sources: 1, inventory_sources_with_failures: 0 },
    });
    const { id, output } = run;
    const events = (await api.call('GET', `inventory_updates/${id}/events/?page_size=200`))
      .results as Row[];
    let [line, counted] = [0, 0];
    for (const event of events) {
      expect(event).toMatchObject({ event: 'verbose', start_line: line, counter: counted + 1 });
      [line, counted] = [Number(event.end_line), Number(event.counter)];
    }
    expect(line).toBe(output.trimEnd().split('\n').length);
    expect(output).toMatch(/^ +\d+\.\d{3} INFO {5}Loaded 2 groups, 5 hosts$/m);
    expect(output).toContain('Group "webs" added');
    expect(output).toMatch(/Inventory import completed for I\d+ - S\d+ in \d+\.\d+s$/m);
  });

  it.each([
    ['a folder with variables beside it', { source_path: 'folder' }, 'f1', { tier: 'back' }],
    ['the root of a branch', { scm_branch: 'only' }, 'o1', {}],
  ])(
    'accepts %s',
    async (_what, fields, name, vars) => {
      if ('scm_branch' in fields) {
        git('checkout', '-q', '--orphan', 'only');
        git('rm', '-rqf', '.');
        commit({ hosts: '[apps]\no1 a=1\n' });
        git('checkout', '-q', 'main');
      }
      const source = await sourceOf(fields);
      await update(source);
      const { apps, _meta } = await scriptOf(source);
      expect({ vars: {}, ...(apps as object) }).toEqual({ hosts: [name], vars });
      expect(_meta).toEqual({ hostvars: { [name]: { a: 1 } } });
    },
    90_000,
  );

  it('fails with unreadable files, and changes nothing', async () => {
    const source = await sourceOf({ source_path: 'list.yaml', overwrite: true });
    await update(source);
    const before = await scriptOf(source);
    expect(before).toEqual({
      ...{ all: { children: ['apps'] }, apps: { hosts: ['y1'], vars: { tier: 'back' } } },
      _meta: { hostvars: { y1: { a: 1 } } },
    });
    for (const [path, why] of [
      ['nowhere.ini', '"nowhere.ini" does not exist in the project.'],
      ['outside', '"outside" is not a path inside the project.'],
      ['broken.yaml', 'broken.yaml'],
      ['failing.sh', 'this is'],
    ] as const) {
      await api.call('PATCH', `inventory_sources/${source.id}/`, { source_path: path });
      const { output } = await update(source, 'failed');
      expect(output).toContain(why);
      expect(await scriptOf(source)).toEqual(before);
      expect(await api.call('GET', `inventories/${source.inventory}/`)).toMatchObject({
        inventory_sources_with_failures: 1,
      });
    }
  }, 90_000);

  it('removes missing hosts with overwrite, and keeps them without', async () => {
    commit({ 'fleet.ini': '[old]\na\nb\n[new]\na\n' });
    const kept = await sourceOf({ source_path: 'fleet.ini' });
    const followed = await sourceOf({ source_path: 'fleet.ini', overwrite: true });
    for (const source of [kept, followed]) await update(source);
    await make(`inventories/${followed.inventory}/hosts/`, { name: 'by-hand' });
    commit({ 'fleet.ini': '[new]\na\n' });
    for (const source of [kept, followed]) await update(source);
    expect(await scriptOf(kept)).toMatchObject({ old: { hosts: ['a', 'b'] } });
    const { old, _meta, new: present } = await scriptOf(followed);
    expect({ old, present }).toEqual({ old: undefined, present: { hosts: ['a'] } });
    expect(_meta).toEqual({ hostvars: { a: {}, 'by-hand': {} } });
  });

  it('sets which hosts are enabled, and imports the selected ones', async () => {
    const source = await sourceOf({
      ...{ source_path: 'states.yaml', host_filter: 'up|sil' },
      ...{ enabled_var: 'state.power', enabled_value: 'Running' },
    });
    await update(source);
    const states = async (): Promise<object> =>
      Object.fromEntries((await hostsOf(source)).map(({ name, enabled }) => [name, enabled]));
    expect(await states()).toEqual({ silent: true, 'up-1': true, 'up-2': false });
    await api.call('PATCH', `inventory_sources/${source.id}/`, { enabled_value: 'stopped' });
    await update(source);
    expect(await states()).toEqual({ silent: true, 'up-1': false, 'up-2': true });
  });

  it('imports the hosts of a limit, and fails if the limit matches none', async () => {
    const limited = await sourceOf({ source_path: 'states.yaml', limit: 'webs:!up-2' });
    await update(limited);
    expect((await hostsOf(limited)).map(({ name }) => name)).toEqual(['up-1']);
    await api.call('PATCH', `inventory_sources/${limited.id}/`, { limit: 'nobody' });
    const { output } = await update(limited, 'failed');
    expect(output).toContain('The limit matches no host.');
    expect(await hostsOf(limited)).toHaveLength(1);
  });

  it('passes to a script its variables and credential, without variables that load code', async () => {
    const type = await make('credential_types/', {
      ...{ name: 'Ours', kind: 'cloud', injectors: { env: { OURS: '{{ word }}' } } },
      inputs: { fields: [{ id: 'word', label: 'Word', type: 'string', secret: true }] },
    });
    const credential = await make('credentials/', {
      ...{ name: 'Ours', organization: 1, credential_type: type.id },
      inputs: { word: 'a-secret-of-ours' },
    });
    const source = await sourceOf({
      ...{ source_path: 'environment.sh', credential: credential.id },
      source_vars: 'WORD: hello\nLIST: [1, {a: b}]',
    });
    // Stores a variable as versions did before they refused its name.
    await cluster.rows(
      `UPDATE unified_job_templates SET source_vars = source_vars || E'\\nLD_PRELOAD: /x.so'
       WHERE id = $1`,
      [source.id],
    );
    const { output, job_env: shown } = await update(source);
    const { apps, _meta } = await scriptOf(source);
    expect(apps).toEqual({ hosts: ['e1'] });
    const given = { word: 'hello', list: [1, { a: 'b' }], preload: '' };
    expect(_meta).toEqual({ hostvars: { e1: given } });
    expect(output).toContain('words: hello **********');
    expect(shown).toMatchObject({ WORD: 'hello', OURS: '**********' });
    expect(JSON.stringify([output, shown])).not.toContain('a-secret-of-ours');
  });

  it('ends after its timeout', async () => {
    const source = await sourceOf({ source_path: 'slow.sh', timeout: 4 });
    const { job_explanation: why } = await update(source, 'failed');
    expect(why).toBe('Job terminated due to timeout');
    expect(await hostsOf(source)).toEqual([]);
  });

  it('fails with the sync of the project, and names it', async () => {
    const gone = await projectOf({});
    const source = await sourceOf({ source_project: gone.id, source_path: 'hosts.ini' });
    // The first sync of the project starts with its creation.
    const synced = `SELECT 1 FROM unified_jobs WHERE project_id = $1 AND status = 'successful'`;
    await eventually(
      async () => expect(await cluster.rows(synced, [gone.id])).toHaveLength(1),
      60_000,
    );
    await cluster.rows('UPDATE unified_job_templates SET scm_branch = $2 WHERE id = $1', [
      ...[gone.id, 'nowhere'],
    ]);
    const { job_explanation: why, source_project_update: sync } = await update(source, 'failed');
    expect(why).toBe(
      `Previous Task Failed: {"job_type": "project_update", "job_name": "${gone.name}", "job_id": "${sync}"}`,
    );
    expect(await hostsOf(source)).toEqual([]);
  });

  it('is refused after the project was deleted, and the source stays', async () => {
    const gone = await projectOf({});
    const source = await sourceOf({ source_project: gone.id, source_path: 'hosts.ini' });
    await cluster.over(
      (await cluster.rows<{ id: number }>('SELECT id FROM unified_jobs')).map(({ id }) => id),
      60_000,
    );
    await api.text('DELETE', `projects/${gone.id}/`);
    expect(await api.call('GET', `inventory_sources/${source.id}/`)).toMatchObject({
      source_project: null,
    });
    const path = `inventory_sources/${source.id}/update/`;
    expect(await api.call('GET', path)).toEqual({ can_update: false });
    await expect(make(path, {})).rejects.toThrow('405');
  });
});

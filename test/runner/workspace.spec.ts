import { access, chmod, mkdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { preparePlaybookRun } from '../../src/execution/runner/playbook-run.js';
import {
  listInventoryFiles,
  listPlaybooks,
  resolveInside,
} from '../../src/projects/project-files.js';
import { createWorkspace, removeDirectory } from '../../src/execution/runner/workspace.js';
import { createTestFolder, preparePlaybook, type TestFolder } from './playbooks.js';

let folder: TestFolder;
beforeAll(async () => {
  folder = await createTestFolder();
});
afterAll(() => folder.remove());

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('a workspace', () => {
  it('is readable by its owner only', async () => {
    const { workspace } = await preparePlaybook(folder, '- hosts: all\n', {
      passwords: { ssh: 'x' },
      extraVars: { a: 1 },
    });
    const { dir, envDir, inventoryDir } = workspace;
    for (const path of [dir, envDir, inventoryDir, workspace.artifactsDir, workspace.projectDir]) {
      expect(await modeOf(path)).toBe(0o700);
    }
    for (const name of [
      'extravars',
      'envvars',
      'settings',
      'passwords',
      'cmdline',
      'inventory.json',
    ]) {
      expect(await modeOf(join(envDir, name))).toBe(0o600);
    }
    expect(await modeOf(join(inventoryDir, 'hosts'))).toBe(0o700);
  });

  it('is deleted with all files of a playbook, and nothing outside', async () => {
    const workspace = await createWorkspace(folder.runsDir, 1, 1);
    const outside = await folder.write('outside', { keep: 'x' });
    await mkdir(join(workspace.projectDir, 'locked/deep'), { recursive: true });
    await writeFile(join(workspace.projectDir, 'locked/deep/file'), 'x', { mode: 0o400 });
    await symlink(outside, join(workspace.projectDir, 'link'));
    await chmod(join(workspace.projectDir, 'locked/deep'), 0o500);
    await chmod(join(workspace.projectDir, 'locked'), 0o000);
    await removeDirectory(workspace.dir);
    await removeDirectory(workspace.dir);
    await expect(access(workspace.dir)).rejects.toThrow('ENOENT');
    expect(await readFile(join(outside, 'keep'), 'utf8')).toBe('x');
  });

  it('is deleted with folders whose paths are too long for the system', async () => {
    const { projectDir, dir } = await createWorkspace(folder.runsDir, 1, 1);
    const chain = Array.from({ length: 15 }, () => 'd'.repeat(200)).join('/');
    for (const name of ['upper', 'lower']) {
      await mkdir(join(projectDir, name, chain), { recursive: true });
    }
    await writeFile(join(projectDir, 'lower', chain, 'file'), 'x');
    await rename(join(projectDir, 'lower'), join(projectDir, 'upper', chain, 'lower'));
    await removeDirectory(dir);
    await expect(access(dir)).rejects.toThrow('ENOENT');
  });

  it('is deleted with locked folders whose names are not UTF-8', async () => {
    const { projectDir, dir } = await createWorkspace(folder.runsDir, 1, 1);
    const locked = Buffer.from(`${projectDir}/\xff`, 'latin1');
    await mkdir(locked);
    await writeFile(Buffer.from(`${projectDir}/\xff/file`, 'latin1'), 'x');
    await chmod(locked, 0o000);
    await removeDirectory(dir);
    await expect(access(dir)).rejects.toThrow('ENOENT');
  });
});

describe('a prepared run', () => {
  it('shows the command and hides the secrets', async () => {
    const { prepared, workspace } = await preparePlaybook(folder, '- hosts: all\n', {
      limit: '-x',
      env: { CLOUD_TOKEN: 'cloud-word', ACCOUNT: 'other-word', REGION: 'north' },
      secretEnv: ['ACCOUNT'],
      passwords: { become: 'become-word' },
      timeoutSeconds: 60,
    });
    // In the format of Python: clients compare and show the text.
    expect(prepared.jobArgs).toMatch(/^\["ansible-playbook", "-u", "root", /);
    expect(JSON.parse(prepared.jobArgs)).toEqual([
      'ansible-playbook',
      '-u',
      'root',
      '--ask-become-pass',
      '--limit=-x',
      '-i',
      join(workspace.inventoryDir, 'hosts'),
      '-e',
      `@${join(workspace.envDir, 'extravars')}`,
      'site.yml',
    ]);
    expect(prepared.jobEnv).toMatchObject({
      CLOUD_TOKEN: '**********',
      ACCOUNT: '**********',
      REGION: 'north',
    });
    expect(JSON.stringify(prepared)).not.toMatch(/cloud-word|other-word|become-word/);
    const settings = await readFile(join(workspace.envDir, 'settings'), 'utf8');
    expect(JSON.parse(settings)).toMatchObject({ job_timeout: 75 });
  });

  it('can use a copy of the project, and a playbook whose name starts with a dash', async () => {
    const projectDir = await folder.write('dashes', {
      '-x.yml': '- hosts: all\n',
      'sub/a.yml': 'x',
    });
    const workspace = await createWorkspace(folder.runsDir, 2, 1);
    const prepared = await preparePlaybookRun(
      {
        jobId: 2,
        attempt: 1,
        projectDir,
        copyProject: true,
        playbook: '-x.yml',
        inventory: {},
        extraVars: {},
        jobType: 'run',
      },
      workspace,
    );
    expect(prepared.jobCwd).toBe(workspace.projectDir);
    expect(prepared.args).toContain('--playbook=./-x.yml');
    expect(await readFile(join(workspace.projectDir, 'sub/a.yml'), 'utf8')).toBe('x');
  });

  it.each([
    [{ playbook: '../site.yml' }, '"../site.yml" does not exist'],
    [{ playbook: '/etc/passwd' }, 'not a path inside'],
    [{ playbook: 'missing.yml' }, '"missing.yml" does not exist'],
    [{ playbook: '' }, 'not a path inside'],
    [{ projectDir: '/nowhere' }, 'The project folder does not exist'],
    [{ sshKeyData: 'no key' }, 'The SSH private key cannot be used'],
    [{ limit: '@/etc/shadow' }, 'outside of the project'],
  ])('is refused with %j', async (settings, message) => {
    await expect(preparePlaybook(folder, '- hosts: all\n', settings)).rejects.toThrow(message);
  });
});

describe('the files of a project', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await folder.write('listing', {
      'site.yml': '---\n# first\n- name: x\n  hosts: all\n',
      'deploy/web.yaml': '- import_playbook: ../site.yml\n',
      'deploy/full-name.yml': '- ansible.builtin.import_playbook: ../site.yml\n',
      'vaulted.yml': '$ANSIBLE_VAULT;1.1;AES256\n00\n',
      'values.yml': 'a: 1\n',
      'roles/r/tasks/main.yml': '- hosts: x\n',
      'tasks/t.yml': '- hosts: x\n',
      'group_vars/all.yml': 'hosts: x\n',
      '.hidden/x.yml': '- hosts: x\n',
      'site.txt': '- hosts: all\n',
      hosts: '# any\n',
      'env/prod.ini': '\n',
      'env/stage': 'web1\n[db]\ndb1 a=1\n',
      'env/script.sh': '#!/bin/sh\n',
      README: '* not an inventory\n',
    });
    await chmod(join(dir, 'env/script.sh'), 0o755);
    await symlink('/etc/passwd', join(dir, 'outside.yml'));
    await symlink('site.yml', join(dir, 'linked.yml'));
    await symlink('/', join(dir, 'root'));
  });

  it('include playbooks', async () => {
    expect(await listPlaybooks(dir)).toEqual([
      'deploy/full-name.yml',
      'deploy/web.yaml',
      'linked.yml',
      'site.yml',
      'vaulted.yml',
    ]);
    expect(await listPlaybooks('/nowhere')).toEqual([]);
  });

  it.each(['\n', '\r\n', ' ', '\t', '-', '- '])(
    'include a large playbook with repetitions of %j in linear time',
    async (text) => {
      const start = text.repeat(1_000_000 / text.length);
      const large = await folder.write('large', {
        'no.yml': `${start}a`,
        'yes.yml': `${start}\n\t-  hosts: all`,
      });
      const startedAt = process.cpuUsage();
      expect(await listPlaybooks(large)).toEqual(['yes.yml']);
      expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
    },
  );

  it('include paths of two million characters', async () => {
    const chain = Array.from({ length: 15 }, () => 'd'.repeat(250)).join('/');
    const names = Array.from(
      { length: 600 },
      (_, at) => `${chain}/${String(at).padStart(9, '0')}.yml`,
    );
    const deep = await folder.write(
      'deep',
      Object.fromEntries(names.map((name) => [name, '- hosts: all\n'])),
    );
    const listed = await listPlaybooks(deep);
    expect(listed.join('').length).toBeLessThanOrEqual(2_000_000);
    expect(listed.length).toBeGreaterThan(500);
  });

  it('include inventories', async () => {
    expect(await listInventoryFiles(dir)).toEqual([
      'env/prod.ini',
      'env/script.sh',
      'env/stage',
      'hosts',
    ]);
  });

  it('are read inside the project only', async () => {
    expect(await resolveInside(dir, 'deploy/../site.yml')).toBe(join(dir, 'site.yml'));
    for (const path of ['outside.yml', 'root/etc/passwd', '../listing', 'deploy', 'a\0b']) {
      await expect(resolveInside(dir, path)).rejects.toThrow(
        /not a path inside|not a file|does not exist/,
      );
    }
  });
});

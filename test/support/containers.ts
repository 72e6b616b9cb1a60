import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { eventually } from './eventually.js';

const execute = promisify(execFile);

/** Links into `/usr` on systems with a merged `/usr`. */
const LINKS = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];
const FOLDERS = ['usr', 'etc', 'proc', 'sys', 'dev', 'run', 'tmp', 'var/tmp', 'opt', 'root'];
/** Files and folders in `/etc` that programs of `/usr` read. */
const CONFIGURATION = ['alternatives', 'ansible', 'ld.so.cache', 'nsswitch.conf', 'ssl/certs'];

/** True for root. As a plain user Podman needs ranges of accounts, which some machines lack. */
export const MAY_USE_CONTAINERS = process.getuid?.() === 0;
if (!MAY_USE_CONTAINERS) process.stderr.write('! tests of containers need root: NOT RUN\n');

/** Uid of a user with ranges of accounts, which can run Podman without root; undefined if there is none. */
export const ROOTLESS_UID = MAY_USE_CONTAINERS ? rootlessUid() : undefined;

function rootlessUid(): number | undefined {
  if (!existsSync('/usr/bin/newuidmap') || !existsSync('/etc/subuid')) return undefined;
  const [name = ''] = readFileSync('/etc/subuid', 'utf8').split(':');
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  const uid = accounts.map((line) => line.split(':')).find(([login]) => login === name)?.[2];
  return uid === undefined ? undefined : Number(uid);
}

/**
 * Podman with a separate storage, and an image that needs no registry: it contains only links, and the
 * `/usr` of the machine is mounted into it.
 */
export class Containers {
  private constructor(
    readonly folder: string,
    private readonly uid: number | undefined,
  ) {}

  /** @param uid of the user of the engine; by default the user of this process */
  static async prepare(uid?: number): Promise<Containers> {
    // Podman accepts no storage path longer than 50 characters.
    const containers = new Containers(await mkdtemp('/tmp/containers-'), uid);
    if (uid !== undefined) await chown(containers.folder, uid, uid);
    await containers.writeEngine();
    await containers.createImage();
    return containers;
  }

  /** Settings of a worker that uses this engine. */
  get settings(): Record<string, string> {
    return {
      JOB_ISOLATION: 'container',
      JOB_CONTAINER_ENGINE: this.engine,
      JOB_CONTAINER_IMAGE: 'localhost/machine:latest',
      JOB_SHOW_PATHS: '/usr',
    };
  }

  /** Runs a command of the engine. */
  async ask(...args: string[]): Promise<string> {
    const { uid, folder } = this;
    const account = uid === undefined ? {} : { uid, gid: uid, cwd: folder };
    return (await execute(this.engine, args, account)).stdout.trim();
  }

  async remove(): Promise<void> {
    await this.ask('rm', '--all', '--force', '--time', '0');
    // Fails while a container of an ended run removes itself.
    await eventually(() => this.ask('rmi', '--all', '--force'));
    // Ends the process of the user namespace of a plain user.
    if (this.uid !== undefined) await this.ask('system', 'migrate');
    await rm(this.folder, { recursive: true, force: true });
  }

  private get engine(): string {
    return join(this.folder, 'podman');
  }

  private async writeEngine(): Promise<void> {
    const folders = ['root', 'runroot', 'tmpdir'].map((name) => `--${name} ${this.folder}/${name}`);
    // crun refuses control groups in hybrid mode.
    // There is no systemd for the user.
    const groups = this.uid === undefined ? [] : ['--cgroup-manager cgroupfs'];
    const options = [...folders, '--storage-driver vfs', '--runtime runc', ...groups].join(' ');
    // A service lacks these variables of a user's session.
    const session = `export HOME=${this.folder} TMPDIR=/tmp XDG_RUNTIME_DIR=${this.folder}/session`;
    const setUp = this.uid === undefined ? [] : [session, 'mkdir -p -m 700 "$XDG_RUNTIME_DIR"'];
    const lines = ['#!/bin/sh', ...setUp, `exec podman ${options} "$@"`, ''];
    await writeFile(this.engine, lines.join('\n'), { mode: 0o755 });
  }

  /**
   * Adds an image `localhost/NAME:latest` to the image of the machine. The image has the file `/etc/marker`
   * with its name, and links to an Ansible with another version number, which distinguishes this Ansible from
   * the Ansible of the worker.
   *
   * @param ansible folder of its package, which must be in JOB_SHOW_PATHS
   */
  async addImage(name: string, ansible: string, version: string): Promise<void> {
    await this.createImage(name, ['ENV PYTHONPATH=/opt'], async (image) => {
      await writeFile(join(image, 'etc/marker'), name);
      await linkAnsible(ansible, join(image, 'opt/ansible'), version);
    });
  }

  /** Copies a folder that the product hides from runs to a folder that it may mount. */
  async share(from: string): Promise<string> {
    const to = join(this.folder, 'shared');
    // Python compiles modules again if their times differ from the times in the compiled modules.
    await execute('cp', ['--archive', from, to]);
    return to;
  }

  /** Adds an image with the programs of the machine, of which only `programs` are on its `PATH`. */
  async addImageWithPrograms(name: string, programs: readonly string[]): Promise<void> {
    await this.createImage(name, ['ENV PATH=/opt/bin'], async (image) => {
      await mkdir(join(image, 'opt/bin'));
      for (const file of programs) await symlink(`/usr/bin/${file}`, join(image, 'opt/bin', file));
    });
  }

  private async createImage(
    name = 'machine',
    changes: readonly string[] = [],
    fill: (image: string) => Promise<void> = async () => {},
  ): Promise<void> {
    const image = join(this.folder, 'image');
    for (const name of FOLDERS) await mkdir(join(image, name), { recursive: true });
    // An engine keeps the permissions of the image.
    for (const name of ['tmp', 'var/tmp']) await chmod(join(image, name), 0o1777);
    for (const name of LINKS) {
      const stats = await lstat(`/${name}`).catch(() => null);
      if (stats?.isSymbolicLink()) await symlink(await readlink(`/${name}`), join(image, name));
    }
    for (const name of CONFIGURATION) {
      const from = join('/etc', name);
      if (!(await lstat(from).catch(() => null))) continue;
      const to = join(image, 'etc', name);
      await mkdir(dirname(to), { recursive: true });
      await cp(from, to, { recursive: true, verbatimSymlinks: true });
    }
    await fill(image);
    const archive = join(this.folder, 'image.tar');
    await execute('tar', ['-C', image, '-cf', archive, '.']);
    const options = ['--quiet', ...changes.map((change) => `--change=${change}`)];
    await this.ask('import', ...options, archive, `localhost/${name}:latest`);
    await rm(image, { recursive: true });
  }
}

/** Returns the package folder of Ansible: the Ansible of the distribution, or of workers. */
export async function ansibleFolder(of: 'distribution' | 'workers'): Promise<string> {
  const program = of === 'distribution' ? '/usr/bin/ansible-playbook' : 'ansible-playbook';
  const { stdout } = await execute(program, ['--version']);
  const [, folder] = /module location = (.+)/.exec(stdout) ?? [];
  if (!folder) throw new Error(`${program} does not print the folder of its modules.`);
  return folder;
}

/**
 * Creates a folder of links to an Ansible, with another version. Links, because the storage copies an image
 * for each container.
 */
async function linkAnsible(ansible: string, folder: string, version: string): Promise<void> {
  // ansible-galaxy sends the second of these two versions.
  const releases = ['release.py', 'module_utils/ansible_release.py'];
  for (const part of ['.', 'module_utils']) {
    await mkdir(join(folder, part), { recursive: true });
    const names = (await readdir(join(ansible, part))).map((name) => join(part, name));
    for (const name of names.filter((one) => one !== 'module_utils' && !releases.includes(one))) {
      await symlink(join(ansible, name), join(folder, name));
    }
  }
  for (const name of releases) {
    const text = await readFile(join(ansible, name), 'utf8');
    await writeFile(join(folder, name), `${text}\n__version__ = '${version}'\n`);
  }
}

import { mkdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Cluster } from '../faults/support/cluster.js';
import { CANARY } from './hostile-programs.js';

/** Namespaces that every run must have of its own. */
const NAMESPACES = ['ipc', 'mnt', 'pid', 'user', 'uts'];

/** Files and rows of an installation that no run may read. */
export class CanaryFiles {
  private constructor(
    private readonly cluster: Cluster,
    readonly data: string,
    readonly paths: readonly string[],
  ) {}

  static async plant(cluster: Cluster): Promise<CanaryFiles> {
    const data = join(cluster.folder, 'data');
    await mkdir(join(data, 'projects', 'other'), { recursive: true });
    const paths = ['secret_key', 'admin_token', 'service.env', 'projects/other/site.yml'].map(
      (name) => join(data, name),
    );
    for (const path of paths) await writeFile(path, CANARY, { mode: 0o644 });
    return new CanaryFiles(cluster, data, paths);
  }

  /**
   * Returns the argument of `ATTACK`, encoded so that Ansible does not parse it as a value.
   *
   * @param own folder names on the path to the part of the data folder that the run may read
   */
  async target(worker: number | undefined, own: readonly string[] = []): Promise<string> {
    const { data, cluster } = this;
    const projects = join(data, 'projects');
    const links = NAMESPACES.map(async (name): Promise<[string, string]> => [
      name,
      await readlink(`/proc/${worker}/ns/${name}`),
    ]);
    const [instance] = await cluster.rows<{ hostname: string }>('SELECT hostname FROM instances');
    const target = {
      files: this.paths,
      folders: [data, projects, join(projects, 'other'), join(data, 'workspaces')],
      ...{ worker, own },
      namespaces: Object.fromEntries(await Promise.all(links)),
      hostname: instance?.hostname,
    };
    return Buffer.from(JSON.stringify(target)).toString('base64');
  }
}

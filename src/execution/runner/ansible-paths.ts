import { readBelow } from './untrusted-files.js';

const MAX_BYTES = 1024 * 1024;
const ROLES = ['~/.ansible/roles', '/usr/share/ansible/roles', '/etc/ansible/roles'];
const COLLECTIONS = ['~/.ansible/collections', '/usr/share/ansible/collections'];

export interface SearchPaths {
  readonly rolesPaths: readonly string[];
  readonly collectionsPaths: readonly string[];
}

/**
 * Returns the folders of a project's content, followed by the paths of the project's `ansible.cfg`,
 * or else Ansible's default paths. These paths are repeated because the environment of a run overrides
 * `ansible.cfg`.
 *
 * @param content folder as the run sees it
 */
export async function searchPaths(projectDir: string, content: string): Promise<SearchPaths> {
  const config = (await readBelow({ dir: projectDir }, ['ansible.cfg'], MAX_BYTES)) ?? '';
  const configured = (...names: string[]): string[] | undefined =>
    defaultsOf(config)
      .find(([name]) => names.includes(name))?.[1]
      .split(':');
  return {
    rolesPaths: [`${content}/roles`, ...(configured('roles_path') ?? ROLES)],
    collectionsPaths: [
      `${content}/collections`,
      ...(configured('collections_path', 'collections_paths') ?? COLLECTIONS),
    ],
  };
}

/**
 * Returns the names and values of the section `defaults`, without the continuation lines of values.
 */
function defaultsOf(config: string): [name: string, value: string][] {
  let section = '';
  return config.split(/\r?\n/).flatMap((line): [string, string][] => {
    const header = /^\[([^\]]+)\]/.exec(line);
    if (header) section = header[1] ?? '';
    // Without a pattern for the whole line, which would take quadratic time for a line of spaces.
    const end = line.search(/[:=]/);
    if (header || section !== 'defaults' || end < 1 || /^[#;\s]/.test(line)) return [];
    const [value = ''] = line.slice(end + 1).split(/\s;/, 1);
    return value.trim() === '' ? [] : [[line.slice(0, end).trim().toLowerCase(), value.trim()]];
  });
}

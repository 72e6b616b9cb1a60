import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  asServiceAccount,
  chownFolders,
  serviceAccount,
  SERVICE_FOLDERS,
} from './service-account.mjs';

const NAME = 'automation-controller';
const NET_BIND_SERVICE = '0000000000000400';

const asRoot = process.getuid?.() === 0 ? describe : describe.skip;

describe('an account for the service', () => {
  it('is not used if root is configured', async () => {
    expect(await serviceAccount('root')).toBeNull();
  });

  it('owns every folder that the service creates in the data folder', () => {
    const source = join(import.meta.dirname, '../../src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
    const made = files
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .flatMap((file) => [
        ...readFileSync(join(source, file), 'utf8').matchAll(
          /(?:resolve|join)\((?:[\w.]+\.)?(?:DATA_DIR|dataDir|dataFolder), '([a-z-]+)'/g,
        ),
      ])
      .map(([, folder]) => folder);
    expect(new Set(made)).toContain('content');
    const given = [...SERVICE_FOLDERS, 'venv'];
    expect(made.filter((folder) => !given.includes(String(folder)))).toEqual([]);
  });
});

asRoot('the account of the service', () => {
  /** @type {import('./account.mjs').Account} */
  let account;
  /** @type {string} */
  let closed;

  /**
   * @param {string} script
   * @param {{ needs?: string[], port?: number }} [wants]
   */
  const run = (script, { needs = [], ...wants } = {}) => {
    const command = { file: 'sh', args: ['-c', script] };
    const started = asServiceAccount(account, command, { needs, ...wants });
    // Groups that root has on some machines only.
    const args = ['--groups=0,4,27', '--', started.file, ...started.args];
    const { status, stdout } = spawnSync('setpriv', args, { encoding: 'utf8' });
    return { status, lines: stdout.trim().split('\n') };
  };

  beforeAll(async () => {
    const found = await serviceAccount(NAME);
    if (!found) throw new Error(`no account ${NAME} can be made`);
    account = found;
  });
  beforeEach(() => {
    closed = mkdtempSync(join(tmpdir(), 'closed-'));
    for (const name of ['shown', 'other']) {
      mkdirSync(join(closed, 'clone', name), { recursive: true });
      writeFileSync(join(closed, 'clone', name, 'file'), name);
    }
    writeFileSync(join(closed, 'clone', 'single'), 'single');
  });
  afterEach(() => rmSync(closed, { recursive: true }));

  it('has no capabilities of root, and none of its groups', () => {
    const { lines } = run(
      `id -u; id -G; grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status | cut -f2`,
    );
    const none = '0000000000000000';
    expect(lines).toEqual([String(account.uid), String(account.gid), none, none, none, none, '1']);
  });

  it('may open a privileged port if the service uses one, and has no other capabilities', () => {
    const { lines } = run('grep CapBnd /proc/self/status | cut -f2', { port: 80 });
    expect(lines).toEqual([NET_BIND_SERVICE]);
    expect(run('grep CapEff /proc/self/status | cut -f2', { port: 8080 }).lines).not.toEqual(lines);
  });

  it('has access to its paths below closed folders, and to nothing else there', () => {
    const clone = join(closed, 'clone');
    const needs = [join(clone, 'shown'), join(clone, 'single'), join(clone, 'missing')];
    expect(run(`cat ${clone}/shown/file`).status).not.toBe(0);
    expect(run(`ls ${clone}; cat ${clone}/shown/file`, { needs }).lines).toEqual([
      'shown',
      'single',
      'shown',
    ]);
    expect(run(`cat ${clone}/other/file`, { needs }).status).not.toBe(0);
    // The view is invisible to other processes, and the original folder is unchanged.
    expect(readdirSync(clone)).toEqual(['other', 'shown', 'single']);
    expect(statSync(closed).mode & 0o777).toBe(0o700);
  });

  it('is the account of the started process, so that signals reach it', () => {
    const needs = [join(closed, 'clone', 'shown')];
    const started = asServiceAccount(
      account,
      { file: 'sh', args: ['-c', 'kill -TERM $$; sleep 5'] },
      { needs },
    );
    expect(spawnSync(started.file, started.args).signal).toBe('SIGTERM');
  });

  it('takes over files that an earlier start created as root', async () => {
    chmodSync(closed, 0o711);
    mkdirSync(join(closed, 'projects', '_1__demo'), { recursive: true });
    await chownFolders(account, closed);
    expect(statSync(join(closed, 'projects', '_1__demo')).uid).toBe(account.uid);
    expect(run(`touch ${closed}/projects/_1__demo/new ${closed}/workspaces/new`).status).toBe(0);
    expect(statSync(closed).uid).toBe(0);
  });
});

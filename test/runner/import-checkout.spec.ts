/** Projects from archives and from Subversion: fetched in the sandbox, and kept as commits. */
import { execFile } from 'node:child_process';
import { link, mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { GitReach } from '../../src/code-hosts/git-reach.js';
import type { Sandbox } from '../../src/execution/sandbox/command.js';
import { checkoutRevision, type SyncRequest } from '../../src/execution/runner/git-checkout.js';
import { syncImported, type FileSource } from '../../src/execution/runner/import-checkout.js';
import { SANDBOXES, isFull, createTestSandbox, type TestSandbox } from './sandboxes.js';
import { createTestFolder, type TestFolder } from './playbooks.js';

const execute = promisify(execFile);
const reachOf = (allow: string[]): GitReach =>
  new GitReach({
    ...{ PROJECT_SCM_SCHEMES: ['http', 'https', 'file'], PROJECT_FILE_ROOTS: ['/'] },
    ...{ OUTBOUND_ALLOW: allow, DATA_DIR: '/var/lib/none' },
  });

/** Writes an archive with the entries of a Python expression: name, content, and target of a link. */
const ARCHIVE = `
import io, sys, tarfile, zipfile
path, entries = sys.argv[1], eval(sys.argv[2])
if path.endswith('.zip'):
    with zipfile.ZipFile(path, 'w') as archive:
        for name, content, link in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if link else 0o100755) << 16
            archive.writestr(info, link or content)
else:
    with tarfile.open(path, 'w:gz' if path.endswith('.gz') else 'w') as archive:
        for name, content, link in entries:
            info = tarfile.TarInfo(name)
            info.mode, info.size = 0o755, len(content.encode())
            if link:
                info.type, info.linkname = tarfile.SYMTYPE, link
            archive.addfile(info, io.BytesIO(content.encode()))
`;

let folder: TestFolder;
let server: Server;
let asked: IncomingMessage[];
let svnAddress = '';
let count = 0;

beforeAll(async () => {
  folder = await createTestFolder();
  server = createServer((request, response) => {
    asked.push(request);
    const moved = {
      ...{ '/moved': '/site.tar.gz', '/away': 'http://127.0.0.2/' },
      ...{ '/ftp': 'ftp://127.0.0.2/site.tar.gz', '/svn': svnAddress },
    }[request.url ?? ''];
    if (moved !== undefined) {
      response.writeHead(301, { Location: moved }).end();
      return;
    }
    readFile(join(folder.dir, request.url ?? '')).then(
      (content) => {
        response.setHeader('Content-Length', content.length);
        // The connection ends after the first file of 512 bytes at most, with its header.
        if (request.url !== '/short.tar') response.end(content);
        else response.write(content.subarray(0, 1024), () => response.destroy());
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => (asked = []));
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await folder.remove();
});

const urlOf = (name: string): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;

async function pack(name: string, entries: [string, string, string?][]): Promise<void> {
  const listed = entries.map(([path, content, link]) => [path, content, link ?? '']);
  await execute('python3', ['-c', ARCHIVE, join(folder.dir, name), JSON.stringify(listed)]);
}

const SITE: [string, string, string?][] = [
  ['site-1/site.yml', '- hosts: all\n'],
  ['site-1/files/run.sh', '#!/bin/sh\n'],
  ['site-1/files/link.sh', '', 'run.sh'],
];

describe.each(SANDBOXES)('imports %s', (_, kind) => {
  let raised: TestSandbox;
  let sandbox: Sandbox;
  beforeAll(async () => {
    raised = await createTestSandbox(kind, folder.dir);
    ({ sandbox } = raised);
  });
  afterAll(() => raised.end());

  const sync = (sort: FileSource, request: Partial<SyncRequest>) =>
    syncImported(sort, {
      ...{ url: '', reach: reachOf(['127.0.0.0/8']), sandbox },
      destination: join(folder.dir, `project-${kind}-${count}`),
      ...request,
    });

  beforeEach(() => (count += 1));

  it('sends the credential to the host of the URL only, and never shows it', async () => {
    await pack('site.tar.gz', SITE);
    const credential = { username: 'ada', password: 'canary-password' };
    const shown: string[] = [];
    const onOutput = (text: string) => void shown.push(text);
    await sync('archive', { url: urlOf('moved'), credential, onOutput });
    const [first, second] = asked;
    expect(first?.headers.authorization).toBe(
      `Basic ${Buffer.from('ada:canary-password').toString('base64')}`,
    );
    expect(second?.headers).not.toHaveProperty('authorization');
    const failed = sync('archive', { url: urlOf('missing'), credential, onOutput });
    await expect(failed).rejects.toThrow('404');
    expect(shown.join('')).not.toContain('canary-password');
  });

  it('connects to permitted addresses only', async () => {
    const refused = sync('archive', { url: urlOf('site.tar.gz'), reach: reachOf([]) });
    await expect(refused).rejects.toThrow('127.0.0.1 is not permitted');
    expect(asked).toEqual([]);
    const reach = reachOf(['127.0.0.1/32']);
    for (const name of isFull(kind) ? ['away', 'ftp'] : ['away']) {
      const moved = sync('archive', { url: urlOf(name), reach });
      await expect(moved).rejects.toThrow('127.0.0.2 is not permitted');
    }
    const local = sync('archive', { url: `file://${folder.dir}/site.tar.gz` });
    await expect(local).rejects.toThrow('cannot be imported');
  });

  if (!isFull(kind)) return;

  it('keeps files that are hard links in the archive', async () => {
    const parts = join(folder.dir, `linked-${kind}`);
    await mkdir(parts);
    await writeFile(join(parts, 'one.yml'), '- hosts: all\n');
    await link(join(parts, 'one.yml'), join(parts, 'two.yml'));
    const archive = `linked-${kind}.tar.gz`;
    await execute('tar', ['-czf', join(folder.dir, archive), '-C', parts, 'one.yml', 'two.yml']);
    await sync('archive', { url: urlOf(archive) });
    for (const name of ['one.yml', 'two.yml']) {
      const file = join(folder.dir, `project-${kind}-${count}`, name);
      expect(await readFile(file, 'utf8')).toBe('- hosts: all\n');
    }
  });

  it('extracts the top folder of an archive, and keeps the commit of equal files', async () => {
    for (const name of ['site.tar.gz', 'site.zip']) {
      await pack(name, SITE);
      const destination = join(folder.dir, `project-${kind}-${name}`);
      const first = await sync('archive', { url: urlOf(name), destination });
      expect((await readdir(destination)).toSorted()).toEqual(['.git', 'files', 'site.yml']);
      expect(await readlink(join(destination, 'files/link.sh'))).toBe('run.sh');
      expect((await stat(join(destination, 'files/run.sh'))).mode & 0o111).not.toBe(0);
      const again = await sync('archive', { url: urlOf(name), destination });
      expect(again.revision).toBe(first.revision);
      const commit = ['-c', 'safe.directory=*', 'show', '--no-patch', '--format=%at %ct'];
      // Without the time of the sync, equal files have the same commit on all workers.
      const { stdout } = await execute('git', [...commit, first.revision], { cwd: destination });
      expect(stdout).toBe('0 0\n');
      await pack(name, [['site-2/site.yml', '- hosts: none\n']]);
      const second = await sync('archive', { url: urlOf(name), destination });
      expect(second.revision).not.toBe(first.revision);
      expect((await readdir(destination)).toSorted()).toEqual(['.git', 'site.yml']);
      const copy = join(folder.dir, `copy-${kind}-${name}`);
      await checkoutRevision({
        ...{ repository: destination, revision: first.revision, destination: copy, sandbox },
      });
      expect(await readFile(join(copy, 'site.yml'), 'utf8')).toBe('- hosts: all\n');
    }
  });

  it('reads a tar file that ends with a zip file', async () => {
    await pack('inner.zip', [['inside.yml', 'x']]);
    const inner = (await readFile(join(folder.dir, 'inner.zip'))).toString('latin1');
    await pack('outer.tar', [...SITE, ['site-1/files/inner.zip', inner]]);
    const destination = join(folder.dir, `project-${kind}-${count}`);
    await sync('archive', { url: urlOf('outer.tar'), destination });
    expect((await readdir(destination)).toSorted()).toEqual(['.git', 'files', 'site.yml']);
  });

  it('removes the files of imports that are older than a day', async () => {
    const name = `old-${kind}.tar.gz`;
    const destination = join(folder.dir, `project-${kind}-${count}`);
    const revisions: string[] = [];
    for (const content of ['one', 'two', 'three']) {
      await pack(name, [['site.yml', content]]);
      revisions.push((await sync('archive', { url: urlOf(name), destination })).revision);
      const age = content === 'one' ? '2 days ago' : '1 hour ago';
      const objects = ['-newermt', '30 minutes ago', '-exec', 'touch', '-d', age, '{}', '+'];
      await execute('find', [join(destination, '.git/objects'), '-type', 'f', ...objects]);
    }
    const options = ['-c', 'safe.directory=*', 'cat-file', '--batch-check'];
    const checked = execute('git', options, { cwd: destination });
    checked.child.stdin?.end(revisions.join('\n'));
    const [one, two, three] = revisions;
    expect((await checked).stdout).toMatch(
      new RegExp(`^${one} missing\n${two} commit \\d+\n${three} commit \\d+\n$`),
    );
  });

  it('fails if the download of an archive ends early', async () => {
    await pack('short.tar', SITE);
    const failed = sync('archive', { url: urlOf('short.tar') });
    await expect(failed).rejects.toThrow('short.tar: the connection ended early');
  });

  it('explains an archive that cannot be read', async () => {
    await writeFile(join(folder.dir, 'page.html'), '<html>Log in</html>');
    const page = sync('archive', { url: urlOf('page.html') });
    await expect(page).rejects.toThrow(/^The import failed: \S+page.html: not a tar or zip file$/);
    await pack('locked.zip', SITE);
    const content = await readFile(join(folder.dir, 'locked.zip'));
    // The flag "encrypted" of the first file, in its header and in the directory.
    content[6] = content[content.indexOf('PK\x01\x02') + 8] = 1;
    await writeFile(join(folder.dir, 'locked.zip'), content);
    const locked = sync('archive', { url: urlOf('locked.zip') });
    await expect(locked).rejects.toThrow(/^The import failed: \S+locked.zip: .*is encrypted/);
  });

  it('omits files outside the folder and inside the repository metadata', async () => {
    await pack('hostile.tar.gz', [
      ['site.yml', 'x'],
      ['../outside', 'x'],
      ['/absolute', 'x'],
      ['a/../../outside', 'x'],
      ['.git/config', '[core]\nfsmonitor = touch hacked\n'],
      ['sub/.GIT/hooks/post-checkout', 'x'],
      ['door', '', '.git'],
      ['door/config', '[core]\nfsmonitor = touch hacked\n'],
    ]);
    const destination = join(folder.dir, `project-${kind}-${count}`);
    const refused = sync('archive', { url: urlOf('hostile.tar.gz'), destination });
    // The link and a file below it cannot both exist.
    await expect(refused).rejects.toThrow(/The import failed: .*door/s);
    expect(await readFile(join(destination, '.git/config'), 'utf8')).not.toContain('fsmonitor');
    const left = await readdir(folder.dir);
    expect(left).not.toContain('outside');
  });

  // Without a sandbox, the network cannot be restricted.
  if (kind === 'none') return;

  it('connects to no server of another protocol that a Subversion server names', async () => {
    let connections = 0;
    const other = createTcpServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.2', resolve));
    svnAddress = `svn://127.0.0.2:${(other.address() as AddressInfo).port}/site`;
    await expect(sync('svn', { url: urlOf('svn') })).rejects.toThrow('The import failed');
    expect(asked).not.toEqual([]);
    expect(connections).toBe(0);
    await new Promise((resolve) => other.close(resolve));
  });
});

it('a Subversion repository is checked out at a revision', async () => {
  const repository = join(folder.dir, 'repository');
  const tree = join(folder.dir, 'tree');
  await execute('svnadmin', ['create', repository]);
  await mkdir(tree);
  const commit = async (text: string): Promise<void> => {
    await writeFile(join(tree, 'site.yml'), text);
    await execute('svn', ['add', '--force', '--quiet', '.'], { cwd: tree });
    await execute('svn', ['commit', '--quiet', '-m', 'x'], { cwd: tree });
  };
  await execute('svn', ['checkout', '--quiet', `file://${repository}`, tree]);
  await commit('first');
  await execute('svn', ['update', '--quiet', tree]);
  await execute('svn', ['propset', '-q', 'svn:externals', `${urlOf('away')} away`, tree]);
  await commit('second');
  const [, kind] = SANDBOXES[0]!;
  const raised = await createTestSandbox(kind, folder.dir);
  const destination = join(folder.dir, 'project-svn');
  const request = {
    ...{ url: `file://${repository}`, reach: reachOf(['127.0.0.0/8']), destination },
    sandbox: raised.sandbox,
  };
  try {
    await syncImported('svn', { ...request, credential: { username: 'ada', password: 'canary' } });
    expect(await readFile(join(destination, 'site.yml'), 'utf8')).toBe('second');
    expect(asked).toEqual([]);
    await syncImported('svn', { ...request, branch: '1' });
    expect(await readFile(join(destination, 'site.yml'), 'utf8')).toBe('first');
    await expect(syncImported('svn', { ...request, branch: '9' })).rejects.toThrow('revision 9');
    process.env.http_proxy = urlOf('');
    const failed = syncImported('svn', { ...request, url: 'http://svn.example/site' });
    await expect(failed).rejects.toThrow('The import failed');
    expect(asked[0]?.url).toBe('http://svn.example/site');
  } finally {
    delete process.env.http_proxy;
    await raised.end();
  }
});

import { resolve } from 'node:path';
import { isImportable, GitSourceError, parseGitSource } from '../../code-hosts/git-source.js';
import { verifySignature } from './content-signature.js';
import { accessTo, type GitResult, type SyncRequest } from './git-checkout.js';
import { GitError, GitSession } from './git-command.js';
import { renewRepository } from './git-repository.js';
import { operatorProxy, withHttpProxy } from './operator-proxy.js';
import { removeDirectory } from './workspace.js';

/** Sources that are not git repositories. */
export type FileSource = 'archive' | 'svn';

/**
 * Program that replaces the files of a folder by those of an archive or of a Subversion repository.
 * Arguments: kind, address, folder, and the revision of Subversion. `svn` ignores the variables of proxies,
 * so its settings are written. It would send the credential to the hosts that externals name, so externals
 * are omitted. Members of archives that lead out of the folder or into `.git` are skipped. Links are created
 * last, so that no file is written through a link.
 */
const IMPORT = `
import base64, os, shutil, socket, subprocess, sys, tarfile, tempfile, threading
import urllib.error, urllib.parse, urllib.request, zipfile

kind, url, target, *revision = sys.argv[1:]
username = os.environ.get('SCM_USERNAME', '')
password = os.environ.get('SCM_PASSWORD', '')
fresh = os.path.join(target, '.git', 'import')
download = os.path.join(target, '.git', 'download')


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def relay(server, path):
    while True:
        client, proxy = server.accept()[0], socket.socket(socket.AF_UNIX)
        proxy.connect(path)
        for ends in (client, proxy), (proxy, client):
            threading.Thread(target=copy, args=ends, daemon=True).start()


def reach_proxy(path):
    server = socket.create_server(('127.0.0.1', 0))
    threading.Thread(target=relay, args=(server, path), daemon=True).start()
    for name in 'http', 'https', 'ftp':
        os.environ[f'{name}_proxy'] = f'http://127.0.0.1:{server.getsockname()[1]}'


def write_proxy(folder):
    proxies = urllib.request.getproxies()
    proxy = urllib.parse.urlsplit(proxies.get(urllib.parse.urlsplit(url).scheme, ''))
    exceptions = ['*' + name if name.startswith('.') else name for name in proxies.get('no', '').split(',')]
    settings = {
        'host': proxy.hostname,
        'port': proxy.port or 80,
        'username': urllib.parse.unquote(proxy.username or ''),
        'password': urllib.parse.unquote(proxy.password or ''),
        'exceptions': ', '.join(exceptions),
    }
    with open(os.path.join(folder, 'servers'), 'w') as file:
        file.write('[global]\\n')
        file.writelines(f'http-proxy-{name} = {value}\\n' for name, value in settings.items() if value)


def export():
    command = ['svn', 'export', '--quiet', '--non-interactive', '--no-auth-cache', '--ignore-externals']
    if revision:
        command += ['--revision', *revision]
    if username:
        command += ['--username', username, '--password-from-stdin']
    with tempfile.TemporaryDirectory() as folder:
        write_proxy(folder)
        command += ['--config-dir', folder, '--', url, fresh]
        subprocess.run(command, input=password.encode(), check=True)


def fetch():
    request = urllib.request.Request(url, headers={'User-Agent': 'automation-controller'})
    if username or password:
        login = base64.b64encode(f'{username}:{password}'.encode()).decode()
        request.add_unredirected_header('Authorization', f'Basic {login}')
    with urllib.request.urlopen(request) as response, open(download, 'wb') as file:
        shutil.copyfileobj(response, file)
        # The number of missing bytes. Some archives can be read without their last files.
        if response.length:
            raise EOFError('the connection ended early')


def members():
    # First, because a tar file that ends with a zip file also looks like a zip file.
    if tarfile.is_tarfile(download):
        archive = tarfile.open(download)
        for info in archive:
            if info.isdir():
                yield info.name, 'folder', info.mode, None
            elif info.issym():
                yield info.name, 'link', info.mode, info.linkname
            elif info.isfile() or info.islnk():
                # A hard link has the content of an earlier member.
                yield info.name, 'file', info.mode, lambda info=info: archive.extractfile(info)
    elif zipfile.is_zipfile(download):
        archive = zipfile.ZipFile(download)
        for info in archive.infolist():
            mode = info.external_attr >> 16
            if info.is_dir():
                yield info.filename, 'folder', mode, None
            elif mode & 0o170000 == 0o120000:
                yield info.filename, 'link', mode, archive.read(info).decode()
            else:
                yield info.filename, 'file', mode, lambda info=info: archive.open(info)
    else:
        raise ValueError('not a tar or zip file')


def unpack():
    entries = []
    for name, sort, mode, content in members():
        parts = [part for part in name.split('/') if part not in ('', '.')]
        if parts and '..' not in parts and '.git' not in [part.lower() for part in parts]:
            entries.append((parts, sort, mode, content))
    tops = {parts[0] for parts, *_ in entries}
    is_inside = len(tops) == 1 and all(len(parts) > 1 or sort == 'folder' for parts, sort, *_ in entries)
    os.mkdir(fresh)
    links = []
    for parts, sort, mode, content in entries:
        path = os.path.join(fresh, *parts[is_inside:])
        if sort == 'folder':
            os.makedirs(path, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if sort == 'link':
            links.append((content, path))
            continue
        with content() as source, open(path, 'wb') as file:
            shutil.copyfileobj(source, file)
        os.chmod(path, 0o755 if mode & 0o100 else 0o644)
    for content, path in links:
        os.symlink(content, path)


try:
    if 'PROXY_SOCKET' in os.environ:
        reach_proxy(os.environ['PROXY_SOCKET'])
    if kind == 'svn':
        export()
    else:
        fetch()
        unpack()
        os.remove(download)
except FileNotFoundError as error:
    sys.exit('svn is not installed on this worker.' if error.filename == 'svn' else str(error))
except subprocess.CalledProcessError as error:
    sys.exit(error.returncode)
except Exception as error:
    sys.exit(f'{url}: {error}')
for name in os.listdir(target):
    path = os.path.join(target, name)
    if name != '.git':
        os.remove(path) if os.path.islink(path) or os.path.isfile(path) else shutil.rmtree(path)
for name in os.listdir(fresh):
    if name.lower() != '.git':
        os.rename(os.path.join(fresh, name), os.path.join(target, name))
shutil.rmtree(fresh)
`;

/** Time in which the files of earlier imports stay in the repository. */
const KEPT_TIME = '1.day.ago';

/** Author of the commits with the imported files. */
const IDENTITY = ['-c', 'user.name=controller', '-c', 'user.email=controller@localhost'];

/**
 * Updates a project's folder to the files of an archive or of a Subversion repository, and commits them
 * to a git repository of the folder. Jobs then use the folder like that of any project. Equal files have
 * the same commit on all workers.
 *
 * @throws GitSourceError for invalid addresses, GitError if the import fails
 */
export async function syncImported(kind: FileSource, request: SyncRequest): Promise<GitResult> {
  const source = parseGitSource(request.url, request.reach.schemes);
  if (!isImportable(kind, source.scheme)) {
    throw new GitSourceError(`URLs with the scheme "${source.scheme}" cannot be imported.`);
  }
  const dir = resolve(request.destination);
  const folders = { folder: dir, shared: [], sandbox: request.sandbox };
  // svn follows redirects to other protocols, which use no proxy: it connects to the proxy only.
  const isOffline = operatorProxy() === null;
  const access = { ...accessTo(request, source, folders), isOffline };
  return GitSession.use(access, request, async (git) => {
    if (request.deleteOnUpdate) await removeDirectory(dir);
    await renewRepository(dir, null);
    // Before the import, because runs may still check out the last commit.
    await git.run(['prune', `--expire=${KEPT_TIME}`], dir);
    const branch = kind === 'svn' && request.branch ? [request.branch] : [];
    const command = ['-c', IMPORT, kind, source.url, dir, ...branch];
    await withHttpProxy(
      request.reach.guard,
      (environment, refusals) =>
        git.runProgram('python3', command, { cwd: dir, environment, refusals }),
      git.folder,
    );
    const revision = await commit(git, dir, kind);
    if (request.publicKey) await verifySignature(git, dir, request.publicKey);
    return { revision, output: git.output };
  });
}

/** Commits the files of a folder. @returns the commit, which is the same for equal files */
async function commit(git: GitSession, dir: string, message: string): Promise<string> {
  await git.run(['add', '--all', '--force', '--', '.'], dir);
  const tree = await git.query(['write-tree'], dir);
  const id = await git.query([...IDENTITY, 'commit-tree', tree ?? '', '-m', message], dir);
  if (id === null) throw new GitError('The files could not be committed.', git.output);
  await git.run(['update-ref', 'HEAD', id], dir);
  return id;
}

import { SIGNATURE_FAILED } from '../../runs/run-explanations.js';
import type { GitSession } from './git-command.js';

/**
 * Program that checks the files of a folder as `ansible-sign` does: the signature of
 * `.ansible-sign/sha256sum.txt`, the sums in it, and that each file that `MANIFEST.in` does not exclude is
 * listed. Patterns match as those of distlib do: without a folder they match the end of a path. Links that
 * are not listed may only lead to checked files. Arguments: the folder and the public key. Prints the
 * result, or the first fault and exits with 1.
 */
const VERIFY = String.raw`
import hashlib, os, re, subprocess, sys, tempfile
from fnmatch import fnmatchcase

root, key = os.path.realpath(sys.argv[1]), sys.argv[2]
SUMS, RULES = '.ansible-sign/sha256sum.txt', 'MANIFEST.in'
OUTSIDE = ('..', '.git', '.ansible-sign')
# Words of a rule besides the action: least and most.
ACTIONS = {
    'include': (1, None), 'global-include': (1, None), 'recursive-include': (2, None), 'graft': (1, 1),
    'exclude': (1, None), 'global-exclude': (1, None), 'recursive-exclude': (2, None), 'prune': (1, 1),
}


def fail(text):
    print(f'${SIGNATURE_FAILED}{text}')
    sys.exit(1)


def named(paths):
    paths = sorted(paths)
    more = f' and {len(paths) - 3} more' if len(paths) > 3 else ''
    return ', '.join(ascii(path)[1:-1] for path in paths[:3]) + more


def content(name):
    try:
        with open(os.path.join(root, name), 'rb') as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        fail(f'The project is not signed: {name} is missing.')


def gpg(home, *args, data):
    command = ['gpg', '--homedir', home, '--batch', '--no-tty', '--no-autostart', '--status-fd', '1', *args]
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return dict(re.findall(r'^\[GNUPG:\] (\w+) ?(.*)$', done.stdout.decode(errors='replace'), re.M))


def check_signature(sums):
    content(f'{SUMS}.sig')
    with tempfile.TemporaryDirectory(dir=os.environ['HOME']) as home:
        if 'IMPORT_OK' not in gpg(home, '--import', data=key.encode()):
            fail('The credential for signatures contains no GPG public key.')
        status = gpg(home, '--verify', '--', os.path.join(root, f'{SUMS}.sig'), '-', data=sums)
    if 'BADSIG' in status:
        fail(f'{SUMS} was changed after it was signed.')
    if 'ERRSIG' in status or 'NO_PUBKEY' in status:
        fail(f'{SUMS}.sig was made with another key than that of the credential.')
    if 'EXPKEYSIG' in status or 'REVKEYSIG' in status or 'EXPSIG' in status:
        fail(f'{SUMS}.sig or its key is expired or revoked.')
    if 'GOODSIG' not in status or 'VALIDSIG' not in status:
        fail(f'{SUMS}.sig is not a GPG signature of {SUMS}.')
    return status['VALIDSIG'].split(' ')[0]


def read_sums(text):
    sums = {}
    for number, line in enumerate(text.split('\n'), 1):
        if not line.strip():
            continue
        found = re.fullmatch(r'([0-9a-f]{64}) [ *](.+)', line)
        if not found or found[2] in sums:
            fail(f'{SUMS}: line {number} is not a checksum of one more file.')
        sums[found[2]] = found[1]
    return sums


def read_rules(text):
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith('#'):
            continue
        action, *rest = words if len(words) > 1 or words[0] in ACTIONS else ['include', *words]
        least, most = ACTIONS.get(action, (1, 0))
        if len(rest) < least or most is not None and len(rest) > most:
            fail(f'{RULES}: line {number} is not a rule.')
        keeps = action.endswith('include') or action == 'graft'
        folder = rest[0].split('/') if least == 2 or most == 1 else None
        for pattern in [None] if most == 1 else rest[least - 1:]:
            yield keeps, folder, pattern and pattern.split('/'), action in ('include', 'exclude')


def matches(parts, folder, pattern, is_whole):
    if folder is not None:
        if len(parts) <= len(folder) or not all(map(fnmatchcase, parts, folder)):
            return False
        parts = parts[len(folder):]
    if pattern is None:
        return True
    if is_whole:
        return len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern))
    end = parts[-len(pattern):]
    return len(end) == len(pattern) and all(map(fnmatchcase, end, ['*' + pattern[0], *pattern[1:]]))


def is_covered(path, rules):
    is_kept = True
    for keeps, *rule in rules:
        if keeps != is_kept and matches(path.split('/'), *rule):
            is_kept = keeps
    return is_kept or path == RULES


def walk():
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = [name for name in folders if name not in ('.git', *links)]
        for name in [*links, *names]:
            path = os.path.normpath(os.path.join(inside, name))
            if name != '.git' and path not in (SUMS, f'{SUMS}.sig'):
                yield path


def check_link(link, files, covered):
    target = os.path.relpath(os.path.realpath(os.path.join(root, link)), root)
    parts = target.split('/')
    start = () if target == '.' else tuple(parts)
    below = [path for path in files if tuple(path.split('/'))[:len(start)] == start]
    if parts[0] in OUTSIDE or '.git' in parts or not covered.issuperset(below):
        fail(f'{named([link])} is not signed: the link leads to files that are not checked.')


def sum_of(path):
    digest = hashlib.sha256()
    with open(os.path.join(root, path), 'rb') as file:
        for part in iter(lambda: file.read(1 << 20), b''):
            digest.update(part)
    return digest.hexdigest()


try:
    signed = content(SUMS)
    fingerprint = check_signature(signed)
    sums = read_sums(os.fsdecode(signed))
    rules = list(read_rules(os.fsdecode(content(RULES))))
    paths = list(walk())
    files = [path for path in paths if not os.path.islink(os.path.join(root, path))]
    links = [path for path in paths if os.path.islink(os.path.join(root, path)) and is_covered(path, rules)]
    covered = {path for path in files if is_covered(path, rules)}
    for path in sorted(links):
        check_link(path, files, covered)
    present = covered.union(link for link in links if os.path.isfile(os.path.join(root, link)))
    if covered - sums.keys():
        fail(f'{named(covered - sums.keys())} is not signed: added without a checksum in {SUMS}.')
    if sums.keys() - present:
        fail(f'{named(sums.keys() - present)} is signed, but missing or excluded by {RULES}.')
    changed = [path for path, digest in sums.items() if sum_of(path) != digest]
    if changed:
        fail(f'{named(changed)} was changed after it was signed.')
except FileNotFoundError as error:
    fail('gpg is not installed on this worker.' if error.filename == 'gpg' else str(error))
print(f'Signature: {len(sums)} files are signed by the key {fingerprint}')
`;

/**
 * Checks that the files of a folder are those that the owner of a public key has signed
 * (docs/contract/runs.md#signed-content).
 *
 * @throws GitError that names the file
 */
export const verifySignature = (git: GitSession, dir: string, publicKey: string): Promise<void> =>
  git.check({ file: 'python3', args: ['-c', VERIFY, dir, publicKey], cwd: dir, environment: {} });

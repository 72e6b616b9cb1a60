/** Programs that a hostile run executes. Each prints what it could reach. */

/** Content of the files that no run may read. */
export const CANARY = 'canary-of-the-sandbox';

/**
 * Attack from inside a run, which prints one line per secret or right that it finds. Without a sandbox it
 * finds most of them, which is how the attack itself is tested.
 */
export const ATTACK = `
import base64, ctypes, errno, glob, json, os, socket, stat, subprocess, sys
target = json.loads(base64.b64decode(sys.argv[1]))
found = []
def attempt(name, work):
    try:
        if work(): found.append(name)
    except Exception: pass
def read(path):
    with open(path, 'rb') as file: return file.read()
for path in target['files']:
    attempt('read ' + os.path.basename(path), lambda: b'${CANARY}' in read(path))
for path in target['folders']:
    attempt('listed ' + os.path.basename(path), lambda: set(os.listdir(path)) - set(target['own']))
def environments():
    return any(b'DATABASE_URL' in read(path) for path in glob.glob('/proc/[0-9]*/environ'))
attempt('read an environment', environments)
attempt('read the environment of the worker', lambda: b'DATABASE_URL' in read('/proc/%d/environ' % target['worker']))
attempt('saw the worker', lambda: b'worker.js' in read('/proc/%d/cmdline' % target['worker']))
attempt('own environment', lambda: any(name in os.environ for name in ('DATABASE_URL', 'REDIS_URL', 'SECRET_KEY')))
attempt('accounts of the machine', lambda: len(read('/etc/passwd').splitlines()) > 3)
attempt('shadow', lambda: read('/etc/shadow'))
def sockets():
    places = (path for top in ('/run', '/var/run', '/tmp', '/home', '/root') for depth in ('/*', '/*/*', '/*/.*') for path in glob.glob(top + depth))
    return any(stat.S_ISSOCK(os.lstat(path).st_mode) for path in places)
attempt('a socket of a service', sockets)
attempt('is root', lambda: os.getuid() == 0)
def write(folder):
    path = os.path.join(folder, 'written-by-a-run')
    with open(path, 'w') as file: file.write('x')
    os.unlink(path)
    return True
for folder in ['/', '/usr', '/usr/bin', '/etc', '/opt', '/run', '/var', '/dev', '/sys', *target['folders']]:
    attempt('wrote ' + os.path.basename(folder), lambda: write(folder))
def capabilities():
    return any(line.split()[1].strip(b'0') for line in read('/proc/self/status').splitlines() if line.startswith(b'Cap'))
attempt('capabilities', capabilities)
attempt('new privileges', lambda: b'NoNewPrivs:\\t0' in read('/proc/self/status'))
for name, namespace in target['namespaces'].items():
    attempt('namespace ' + name, lambda: os.readlink('/proc/self/ns/' + name) == namespace)
def writable():
    mounts = (line.split() for line in read('/proc/self/mountinfo').decode().splitlines())
    return any('rw' in line[5].split(',') for line in mounts if line[4].startswith(target['folders'][0]))
attempt('writable mounts of the data folder', writable)
quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
attempt('user namespace', lambda: subprocess.call(['unshare', '-U', 'true'], **quiet) == 0)
attempt('mount', lambda: subprocess.call(['mount', '-t', 'tmpfs', 'none', '/runner/tmp'], **quiet) == 0)
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    libc.syscall(number, *(ctypes.c_long(one) for one in arguments))
    return ctypes.get_errno()
CALLS = {'keyctl': (250, 219), 'add_key': (248, 217), 'bpf': (321, 280), 'ptrace': (101, 117),
    'perf_event_open': (298, 241), 'userfaultfd': (323, 282), 'io_uring_setup': (425, 425),
    'process_vm_readv': (310, 270), 'unshare': (272, 97), 'setns': (308, 268), 'open_tree': (428, 428),
    'mount': (165, 40), 'init_module': (175, 105), 'kexec_load': (246, 104)}
for name, numbers in CALLS.items():
    attempt('call ' + name, lambda: call(numbers[os.uname().machine == 'aarch64'], -1, -1, -1, -1, -1) != errno.EPERM)
for family, kind in (('AF_ALG', 'SOCK_SEQPACKET'), ('AF_VSOCK', 'SOCK_STREAM'), ('AF_PACKET', 'SOCK_DGRAM')):
    attempt('socket ' + family, lambda: socket.socket(getattr(socket, family), getattr(socket, kind)))
attempt('sudo', lambda: subprocess.call(['sudo', '-n', 'true'], **quiet) == 0)
attempt('host name', lambda: socket.gethostname() == target['hostname'])
print(json.dumps(found))
`;

export const FORKS = `
import os, time
started = 0
try:
    while started < 2000:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        started += 1
except OSError:
    pass
print(started)
os.kill(0, 9) if started == 2000 else None
`;

export const FILES = `
opened = []
try:
    while len(opened) < 2000: opened.append(open('/dev/null'))
except OSError: pass
print(len(opened))
`;

/** Allocates memory and starts the given number of processes that share it. */
export const MEMORY = `
import os, sys, time
megabytes, forks = map(int, sys.argv[1:])
held = b'x' * (megabytes * 1000000)
for _ in range(forks):
    if os.fork() == 0: break
time.sleep(2 if forks else 60)
`;

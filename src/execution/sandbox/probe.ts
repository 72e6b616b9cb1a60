import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../common/errors/errors.js';
import type { Settings } from '../../config/settings.js';
import type { Launch } from './command.js';
import { sandboxPid } from './sandbox-pid.js';
import { type SandboxPlan, launchInside } from './launch-inside.js';
import { startProcess } from './start-process.js';

/**
 * Python script that tests what playbooks depend on: semaphores in shared memory, a terminal,
 * writable folders.
 */
const SCRIPT = `
import multiprocessing, os, pty
multiprocessing.Lock().acquire()
os.openpty()
for path in 'probe', '/tmp/probe', '/var/tmp/probe':
    open(path, 'w').write('x')
assert os.getuid() != 0
`;
/** Programs that an image must contain; the set-up checks the programs of the machine itself. */
const PROGRAMS = 'ansible-runner ansible-playbook ansible-inventory ansible-galaxy git ssh python3';
const IN_IMAGE = `
for program in ${PROGRAMS}; do
  command -v "$program" > /dev/null && continue
  echo "the image has no $program" >&2
  exit 1
done
exec python3 -c "$0"
`;
const TIMEOUT_MS = { bubblewrap: 5000, container: 30_000 };

/**
 * Runs a small program with the same arguments as a run.
 *
 * @returns null if the program succeeds, otherwise the error message of bubblewrap, the engine or the
 *   program
 */
export async function probeError(plan: SandboxPlan, settings: Settings): Promise<string | null> {
  const root = await mkdtemp(join(tmpdir(), 'probe-'));
  try {
    const folder = join(root, 'runner');
    await mkdir(folder, { mode: 0o700 });
    const binds = [{ from: folder, to: '/runner', isWritable: true }];
    const hasNetwork = settings.JOB_NETWORK !== 'none';
    const spec = { root, binds, home: '/runner', name: 'probe', hasNetwork };
    const isContainer = plan.kind === 'container';
    const command = {
      ...(isContainer
        ? { file: 'sh', args: ['-c', IN_IMAGE, SCRIPT] }
        : { file: 'python3', args: ['-c', SCRIPT] }),
      environment: { PATH: process.env.PATH ?? '' },
      cwd: '/runner',
    };
    const launch = await launchInside(plan, command, spec, settings);
    const error = await errorOf(launch, TIMEOUT_MS[plan.kind]).catch(messageOf);
    if (error !== null || existsSync(join(folder, 'probe'))) return error;
    return 'the engine does not run on this machine: files of its containers are not visible on the worker';
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function errorOf(
  { file, args, environment: env, killSignal }: Launch,
  timeoutMs: number,
): Promise<string | null> {
  return new Promise((resolve) => {
    let text = '';
    const child = startProcess(file, args, {
      cwd: '/',
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    const end = (text: string | null): void => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(() => {
      child.kill(killSignal);
      end(`the program did not end within ${timeoutMs / 1000} s`);
    }, timeoutMs);
    void sandboxPid(child);
    child.stderr?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-2000)));
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) =>
      end(
        code === 0 ? null : faultIn(text) || `the program ended with ${signal ?? `code ${code}`}`,
      ),
    );
  });
}

/** Returns the last line of the error output, except when the shell did not find bubblewrap. */
function faultIn(text: string): string {
  if (/bwrap: (not found|command not found)/.test(text)) return 'bwrap is not installed';
  return text.trim().split('\n').at(-1) ?? '';
}

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.js';
import { bubblewrapped, type Plan } from './bubblewrap.js';
import { firstInside } from './first-inside.js';
import { handOver, writeEnclosure } from './enclosure-files.js';

/** What playbooks stand or fall with: semaphores in shared memory, a terminal, a writable folder. */
const SCRIPT = `
import multiprocessing, os, pty
multiprocessing.Lock().acquire()
os.openpty()
open('probe', 'w').write('x')
assert os.getuid() != 0
`;
const LIMIT_MS = 5000;

/**
 * Runs a small program with the very arguments of a run.
 *
 * @returns null when it works, else what bubblewrap or the program said
 */
export async function complaintOf(plan: Plan, settings: Settings): Promise<string | null> {
  const root = await mkdtemp(join(tmpdir(), 'probe-'));
  try {
    const folder = join(root, 'runner');
    await mkdir(folder, { mode: 0o700 });
    const binds = [{ from: folder, to: '/runner', isWritable: true }];
    const hasNetwork = settings.JOB_NETWORK !== 'none';
    const enclosure = { root, binds, home: '/runner', name: 'probe', hasNetwork };
    await writeEnclosure(enclosure, plan);
    if (plan.isRoot) await handOver([folder], plan.account);
    const environment = { PATH: process.env.PATH ?? '' };
    const command = { file: 'python3', args: ['-c', SCRIPT], environment, cwd: '/runner' };
    const launch = bubblewrapped(command, enclosure, plan, settings);
    return await complaint(launch.file, launch.args, launch.environment);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function complaint(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  return new Promise((resolve) => {
    let said = '';
    const child = spawn(file, args, { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
    const end = (text: string | null): void => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      end(`no answer within ${LIMIT_MS / 1000} s`);
    }, LIMIT_MS);
    void firstInside(child);
    child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) =>
      end(code === 0 ? null : faultIn(said) || `it ended with ${signal ?? `code ${code}`}`),
    );
  });
}

/** The last line, but for a shell that has not found its program. */
function faultIn(text: string): string {
  if (/bwrap: (not found|command not found)/.test(text)) return 'bwrap is not installed';
  return text.trim().split('\n').at(-1) ?? '';
}

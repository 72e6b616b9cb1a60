import { readFile } from 'node:fs/promises';

/** Returns a hard limit of this process, which its child processes inherit; null: unlimited. */
export async function ownLimit(name: 'open files' | 'processes'): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, most] = new RegExp(`^Max ${name} +\\S+ +(\\d+)`, 'm').exec(limits) ?? [];
  return most === undefined ? null : Number(most);
}

/**
 * Returns the process limit that a container engine can request. It is capped at `pid_max`, because
 * Podman first lowers its own limit to that.
 */
export async function mostProcesses(): Promise<number | null> {
  const numbered = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8').catch(() => ''));
  const own = await ownLimit('processes');
  return numbered > 0 ? Math.min(own ?? Infinity, numbered) : own;
}

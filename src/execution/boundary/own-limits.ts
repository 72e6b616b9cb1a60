import { readFile } from 'node:fs/promises';

/** What this process may have at most, and so whatever it starts; null: any number. */
export async function ownLimit(name: 'open files' | 'processes'): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, most] = new RegExp(`^Max ${name} +\\S+ +(\\d+)`, 'm').exec(limits) ?? [];
  return most === undefined ? null : Number(most);
}

/**
 * What a container engine may be asked for, and no more than the machine numbers: Podman brings itself
 * down to that first.
 */
export async function mostProcesses(): Promise<number | null> {
  const numbered = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8').catch(() => ''));
  const own = await ownLimit('processes');
  return numbered > 0 ? Math.min(own ?? Infinity, numbered) : own;
}

import { readFile } from 'node:fs/promises';

/** An unprivileged account of the system. */
export interface JobAccount {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Account names in order of preference. A set-up as root creates the first account; `nobody` is the
 * fallback.
 */
const NAMES = ['automation-job', 'nobody'];

/**
 * Returns the account that runs commands for a worker that is root; for other workers, the worker's
 * own account.
 */
export async function jobAccount(): Promise<JobAccount> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  const text = await readFile('/etc/passwd', 'utf8');
  const entries = text.split('\n').map((line) => line.split(':'));
  for (const accountName of NAMES) {
    const entry = entries.find(([name]) => name === accountName);
    if (entry && Number(entry[2]) > 0) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new Error(`none of the accounts ${NAMES.join(', ')} exists`);
}

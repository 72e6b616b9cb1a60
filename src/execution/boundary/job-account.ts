import { readFile } from 'node:fs/promises';

/** An unprivileged account of the system. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Made by the set-up when it is root; `nobody` stands in for it. */
const NAMES = ['automation-job', 'nobody'];

/** The account that runs what a worker of root starts; the worker's own when it is not root. */
export async function jobAccount(): Promise<Account> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  const text = await readFile('/etc/passwd', 'utf8');
  const entries = text.split('\n').map((line) => line.split(':'));
  for (const wanted of NAMES) {
    const entry = entries.find(([name]) => name === wanted);
    if (entry && Number(entry[2]) > 0) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new Error(`none of the accounts ${NAMES.join(', ')} exists`);
}

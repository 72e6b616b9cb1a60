import { MAY_USE_CONTAINERS, ROOTLESS_UID } from '../support/containers.js';
import { IS_DEEP } from '../support/depth.js';

const isRoot = process.getuid?.() === 0;
/** UID of the account `nobody`, which every system has: Ansible needs an account. */
const NOBODY = 65_534;

/** Account of a worker, and the kind of its sandbox. */
interface WorkerKind {
  account: string;
  /** UID of the account. Without it, the worker runs as the user that runs the tests. */
  uid?: number;
  kind: 'bubblewrap' | 'container';
}

/** All kinds of workers: as the user that runs the tests, and if that is root, as a plain user too. */
export const WORKERS: readonly WorkerKind[] = [
  { account: isRoot ? 'root' : 'a plain user', kind: 'bubblewrap' },
  ...(isRoot ? [{ account: 'a plain user', uid: NOBODY, kind: 'bubblewrap' as const }] : []),
  ...(MAY_USE_CONTAINERS ? [{ account: 'root', kind: 'container' as const }] : []),
  ...(IS_DEEP && ROOTLESS_UID !== undefined
    ? [{ account: 'a plain user', uid: ROOTLESS_UID, kind: 'container' as const }]
    : []),
];

import { MAY_USE_CONTAINERS, ROOTLESS_UID } from '../support/containers.js';
import { IS_DEEP } from '../support/depth.js';

const isRoot = process.getuid?.() === 0;
/** An account every system has: Ansible needs one. */
const NOBODY = 65_534;

/** Whom a worker runs as, and what it keeps runs apart by. */
interface WorkerKind {
  account: string;
  /** Whoever runs the tests where there is none. */
  uid?: number;
  kind: 'bubblewrap' | 'container';
}

/** As whoever runs the tests, and as a plain user where that is root. */
export const WORKERS: readonly WorkerKind[] = [
  { account: isRoot ? 'root' : 'a plain user', kind: 'bubblewrap' },
  ...(isRoot ? [{ account: 'a plain user', uid: NOBODY, kind: 'bubblewrap' as const }] : []),
  ...(MAY_USE_CONTAINERS ? [{ account: 'root', kind: 'container' as const }] : []),
  ...(IS_DEEP && ROOTLESS_UID !== undefined
    ? [{ account: 'a plain user', uid: ROOTLESS_UID, kind: 'container' as const }]
    : []),
];

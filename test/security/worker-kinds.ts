import { MAY_USE_CONTAINERS } from '../support/containers.js';

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
];

import type { Actor } from '../../../src/common/access.js';

/** Caller whose permissions are checked in statements. Superusers would bypass the checks. */
export const SOMEBODY: Actor = {
  id: 1,
  username: 'somebody',
  isSuperuser: false,
  isSystemAuditor: false,
};

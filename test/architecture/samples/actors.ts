import type { Actor } from '../../../src/common/access.js';

/** Caller whose permissions are checked in statements. Superusers would bypass the checks. */
export const CALLER: Actor = {
  id: 1,
  username: 'caller',
  isSuperuser: false,
  isSystemAuditor: false,
};

import type { Actor } from '../../../src/common/access.js';

/** Somebody whose rights are asked in the statement: superusers may do everything without asking. */
export const SOMEBODY: Actor = {
  id: 1,
  username: 'somebody',
  isSuperuser: false,
  isSystemAuditor: false,
};

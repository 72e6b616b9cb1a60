import { InitialSchema1795255051169 } from './1795255051169-initial-schema.js';
import { RolesAndRules1795255051170 } from './1795255051170-roles-and-rules.js';

/** Every migration, oldest first. Named imports, so that the compiled and the test run see the same. */
export const migrations = {
  InitialSchema1795255051169,
  RolesAndRules1795255051170,
};

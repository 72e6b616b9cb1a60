import { checkRef, GitSourceError } from '../code-hosts/git-source.js';
import type { FieldErrors } from '../common/errors/errors.js';

/** Returns the faults of a branch, tag or commit name; an empty name is valid. */
export function refErrors({ scm_branch: branch }: { scm_branch?: unknown }): FieldErrors {
  if (typeof branch !== 'string' || branch === '') return {};
  try {
    checkRef(branch);
    return {};
  } catch (error) {
    if (error instanceof GitSourceError) return { scm_branch: [error.message] };
    throw error;
  }
}

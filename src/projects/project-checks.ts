import type { FieldErrors } from '../common/errors/errors.js';
import type { GitReach } from '../code-hosts/git-reach.js';
import {
  checkRef,
  GitSourceError,
  holdsPassword,
  isImportable,
  parseRefspecs,
} from '../code-hosts/git-source.js';
import { isFolderName } from './project-folders.service.js';

/**
 * Inputs of the checks of a project: its fields after the request, and the objects they refer to.
 */
export interface ProjectFacts {
  value(field: string): unknown;
  changes(...fields: readonly string[]): boolean;
  /** Kind of the credential's type; null without a credential. */
  credentialKind: string | null;
  /** Kind of the signature credential's type; null without a signature credential. */
  signatureKind: string | null;
  /** Folder of an existing project; otherwise null. */
  storedPath: string | null;
  /** True if another project uses the folder. */
  isPathTaken: boolean;
  /** Ids of the job templates that set a branch or prompt for a branch. */
  overridingTemplates: readonly number[];
}

/** Options of a sync, which manual projects do not have. */
const UPDATE_OPTIONS = [
  'scm_clean',
  'scm_delete_on_update',
  'scm_track_submodules',
  'scm_update_on_launch',
  'allow_override',
] as const;

/** Returns the errors of all fields of a project (docs/contract/resources.md#projects). */
export function projectErrors(facts: ProjectFacts, reach: GitReach): FieldErrors {
  const isManual = facts.value('scm_type') === '';
  return {
    ...(isManual ? manualErrors(facts) : {}),
    ...passwordErrors(facts),
    ...(isManual ? {} : sourceErrors(facts, reach)),
    ...credentialErrors(facts),
    ...overrideErrors(facts),
  };
}

/**
 * Rejects passwords in URLs, also for manual projects: URLs are displayed, used in filters and part of
 * the activity stream.
 */
const passwordErrors = ({ value, changes }: ProjectFacts): FieldErrors =>
  changes('scm_url', 'scm_type') && holdsPassword(String(value('scm_url') ?? ''))
    ? { scm_url: ['Enter the password in a credential, not in the URL.'] }
    : {};

function manualErrors({ value, changes, isPathTaken, storedPath }: ProjectFacts): FieldErrors {
  const errors: FieldErrors = {};
  for (const option of UPDATE_OPTIONS) {
    if (value(option) === true && changes(option, 'scm_type')) {
      errors[option] = ['Update options must be set to false for manual projects.'];
    }
  }
  if (String(value('scm_url') ?? '') !== '' && changes('scm_url')) {
    errors.scm_url = ['A manual project has no URL. Choose the SCM type git for one.'];
  }
  if (value('scm_refspec') !== '' && changes('scm_refspec', 'scm_type')) {
    errors.scm_refspec = ['SCM refspec can only be used with git projects.'];
  }
  if (String(value('webhook_service') ?? '') !== '' && changes('webhook_service', 'scm_type')) {
    errors.webhook_service = ['Webhooks are not supported for manual projects.'];
  }
  const path = String(value('local_path') ?? '');
  if (path === '' || !changes('local_path', 'scm_type')) return errors;
  // Names of this form are reserved for fetched projects.
  const isReserved = /^_\d+__/.test(path) && path !== storedPath;
  if (!isFolderName(path) || isReserved) {
    errors.local_path = ['This must be the name of a folder directly below the project root.'];
  } else if (isPathTaken) {
    errors.local_path = ['This path is already being used by another manual project.'];
  }
  return errors;
}

function sourceErrors(facts: ProjectFacts, reach: GitReach): FieldErrors {
  const { value, changes, storedPath } = facts;
  const errors: FieldErrors = {};
  const check = (field: string, work: (text: string) => unknown): void => {
    const text = String(value(field) ?? '');
    if (text === '' || !changes(field, 'scm_type')) return;
    try {
      work(text);
    } catch (error) {
      if (!(error instanceof GitSourceError)) throw error;
      errors[field] = [error.message];
    }
  };
  if (value('scm_url') === '' && changes('scm_url', 'scm_type')) {
    errors.scm_url = ['SCM URL is required.'];
  }
  const kind = String(value('scm_type'));
  check('scm_url', (url) => {
    const { scheme } = reach.check(url);
    if (kind !== 'git' && !isImportable(kind, scheme)) {
      throw new GitSourceError('An archive or a Subversion repository has an http or https URL.');
    }
  });
  check('scm_branch', kind === 'svn' ? checkSvnRevision : checkRef);
  if (kind !== 'git') Object.assign(errors, importErrors(facts, kind));
  check('scm_refspec', parseRefspecs);
  if (storedPath !== null && changes('local_path') && !changes('scm_type')) {
    errors.local_path = ['Cannot change local_path for git-based projects'];
  }
  return errors;
}

const SVN_REVISION = /^(?:\d{1,18}|HEAD|\{[\d:T -]{1,32}\})$/;

function checkSvnRevision(text: string): void {
  if (!SVN_REVISION.test(text)) {
    throw new GitSourceError('A revision of Subversion is a number, HEAD or a date in braces.');
  }
}

/** Returns the errors of options that only git repositories have. */
function importErrors({ value, changes }: ProjectFacts, kind: string): FieldErrors {
  const errors: FieldErrors = {};
  if (kind === 'archive' && value('scm_branch') && changes('scm_branch', 'scm_type')) {
    errors.scm_branch = ['SCM branch cannot be used with archive projects.'];
  }
  if (value('scm_refspec') && changes('scm_refspec', 'scm_type')) {
    errors.scm_refspec = ['SCM refspec can only be used with git projects.'];
  }
  for (const option of ['scm_track_submodules', 'allow_override']) {
    if (value(option) === true && changes(option, 'scm_type')) {
      errors[option] = [`SCM ${option.replace('scm_', '')} can only be used with git projects.`];
    }
  }
  return errors;
}

function credentialErrors(facts: ProjectFacts): FieldErrors {
  const { changes, credentialKind, signatureKind } = facts;
  const errors: FieldErrors = {};
  if (changes('credential') && credentialKind !== null && credentialKind !== 'scm') {
    errors.credential = ["Credential kind must be 'scm'."];
  }
  if (signatureKind === null || !changes('signature_validation_credential', 'scm_type')) {
    return errors;
  }
  if (signatureKind !== 'cryptography') {
    errors.signature_validation_credential = ["Credential kind must be 'cryptography'."];
  } else if (facts.value('scm_type') === '') {
    errors.signature_validation_credential = ['Signatures of manual projects are not checked.'];
  }
  return errors;
}

function overrideErrors({ value, changes, overridingTemplates }: ProjectFacts): FieldErrors {
  if (!changes('allow_override') || value('allow_override') === true) return {};
  if (overridingTemplates.length === 0) return {};
  const ids = overridingTemplates.join(' ');
  return {
    allow_override: [
      `One or more job templates depend on branch override behavior for this project (ids: ${ids}).`,
    ],
  };
}

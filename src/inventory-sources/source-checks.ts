import { compileNamePattern } from '../inventories/import/name-pattern.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { CONSTRUCTED, sourceKind, SCM, type SourceKind } from './source-kinds.js';
import { sourceVariableFaults } from './source-variables.js';
import type { ProjectOfSource } from './inventory-sources.repository.js';

/**
 * Inputs of the checks of a source: its fields after the request, and the objects they refer to.
 */
export interface SourceFacts {
  value(field: string): unknown;
  /** Returns true if the request contains one of the fields. */
  changes(...fields: readonly string[]): boolean;
  /** Top-level names of `source_vars`. */
  variableNames: readonly string[];
  inventoryKind: string;
  project: ProjectOfSource | null;
  /** Type of the credential; null without one. */
  credential: CredentialOfSource | null;
}

/** The credential type's properties that determine if a source can use the credential. */
export interface CredentialOfSource {
  kind: string;
  namespace: string | null;
}

/** Fields that only sources from project files have. */
export const PROJECT_FIELDS = ['source_project', 'source_path', 'scm_branch'] as const;

/** Returns the errors of all fields of a source (docs/contract/inventory-sources.md#fields). */
export function sourceErrors(facts: SourceFacts): FieldErrors {
  const kind = sourceKind(facts.value('source')) ?? SCM;
  return {
    ...inventoryErrors(facts),
    ...kindErrors(facts, kind),
    ...textErrors(facts, kind),
    ...(kind === SCM ? projectErrors(facts) : misplacedErrors(facts)),
    ...credentialErrors(facts, kind),
  };
}

function inventoryErrors({ inventoryKind }: SourceFacts): FieldErrors {
  return inventoryKind === ''
    ? {}
    : {
        inventory: ['Cannot create Inventory Source for Smart or Constructed Inventories'],
      };
}

/** Rejects the kind `constructed`, because only a constructed inventory creates such a source. */
const kindErrors = ({ value, changes }: SourceFacts, kind: SourceKind): FieldErrors =>
  kind === CONSTRUCTED && changes('source')
    ? { source: [`${String(value('source'))} not a valid source for inventory`] }
    : {};

/** Editable options of a constructed inventory's source. */
export const CONSTRUCTED_OPTIONS = [
  'source_vars',
  'update_cache_timeout',
  'limit',
  'verbosity',
] as const;

export function constructedErrors(changed: readonly string[]): FieldErrors {
  const editable: readonly string[] = CONSTRUCTED_OPTIONS;
  return Object.fromEntries(
    changed
      .filter((name) => !editable.includes(name))
      .map((name) => [name, [`Cannot change field '${name}' on a constructed inventory source.`]]),
  );
}

function textErrors({ value, changes, variableNames }: SourceFacts, kind: SourceKind): FieldErrors {
  const errors: FieldErrors = {};
  if (changes('source_vars', 'source')) {
    const faults = sourceVariableFaults(variableNames, kind === SCM);
    if (faults.length > 0) errors.source_vars = faults;
  }
  if (changes('source_path')) {
    const fault = pathFault(String(value('source_path') ?? ''));
    if (fault !== null) errors.source_path = [fault];
  }
  if (changes('host_filter')) {
    const fault = compileNamePattern(String(value('host_filter') ?? '')).fault;
    if (fault !== null) errors.host_filter = [`This is not a valid regular expression: ${fault}`];
  }
  // The pattern is an argument of a program, and must not be read as an option.
  if (
    changes('limit') &&
    String(value('limit') ?? '')
      .trimStart()
      .startsWith('-')
  ) {
    errors.limit = ['A host pattern does not begin with a hyphen.'];
  }
  return errors;
}

/**
 * Returns the error of an absolute path, or of a path with `..`; null for other paths. Symbolic links are
 * checked when the path is read.
 */
function pathFault(path: string): string | null {
  if (path.startsWith('/'))
    return 'This must be a path inside the project, without a leading slash.';
  if (path.split('/').includes('..'))
    return 'This must be a path inside the project, without "..".';
  return null;
}

function projectErrors({ value, changes, project }: SourceFacts): FieldErrors {
  const errors: FieldErrors = {};
  if (changes('source', 'source_project')) {
    if (value('source_project') === null) {
      errors.source_project = ['Project required for scm type sources.'];
    } else if (project?.scm_type === '') {
      errors.source_project = ['Cannot use manual project for SCM-based inventory.'];
    }
  }
  const hasBranch = String(value('scm_branch') ?? '') !== '';
  if (hasBranch && project && !project.allow_override && changes(...PROJECT_FIELDS)) {
    errors.scm_branch = ['Project does not allow overriding branch.'];
  }
  return errors;
}

/**
 * Returns errors for project fields of a source without a project: for the fields in the request; if the
 * request contains none, for the stored fields.
 */
function misplacedErrors({ value, changes }: SourceFacts): FieldErrors {
  const misplacedFields = PROJECT_FIELDS.filter((field) => (value(field) ?? '') !== '');
  if (misplacedFields.length === 0) return {};
  const sent = misplacedFields.filter((field) => changes(field));
  const misplaced = sent.length > 0 ? sent : misplacedFields;
  const text = `Cannot set ${misplaced.join(' ')} if not SCM type.`;
  return Object.fromEntries(misplaced.map((field) => [field, [text]]));
}

function credentialErrors(
  { changes, credential, value }: SourceFacts,
  kind: SourceKind,
): FieldErrors {
  if (!changes('credential', 'source')) return {};
  if (value('credential') === null || credential === null) {
    return kind.credential?.isRequired
      ? { credential: ['Credential is required for a cloud source.'] }
      : {};
  }
  const fault = credentialFault(kind, credential);
  return fault === null ? {} : { credential: [fault] };
}

/** Returns the reason why a source cannot use a credential; null if it can. */
export function credentialFault(
  { value: source, credential: rule }: SourceKind,
  credential: CredentialOfSource,
): string | null {
  if (rule === null) return 'The source of a constructed inventory has no credential.';
  const { namespace } = rule;
  if (namespace === null) {
    return ['insights', 'vault'].includes(credential.kind)
      ? 'Credentials of type insights and vault are disallowed for scm inventory sources.'
      : null;
  }
  if (credential.namespace === namespace) return null;
  return source === 'openshift_virtualization'
    ? 'Credentials of type kubernetes is requred for openshift_virtualization inventory sources.'
    : 'Cloud-based inventory sources (such as ec2) require credentials for the matching cloud service.';
}

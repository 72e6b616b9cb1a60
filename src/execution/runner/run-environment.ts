import { FACT_CACHE_ENVIRONMENT } from './fact-files.js';
import { MASK } from './mask.js';
import { MARK_VARIABLE } from './workspace.js';

/**
 * Variables that a run inherits from the worker. All other variables of the worker (database
 * address, secret key) must not reach a playbook.
 */
const INHERITED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_CAINFO|https?_proxy|no_proxy|all_proxy|HTTPS?_PROXY|NO_PROXY|ALL_PROXY)$/;
/** Variables that the runner sets for its own bookkeeping; values from outside would break it. */
const RESERVED =
  /^(AUTOMATION_CONTROLLER_.*|AD_HOC_COMMAND_ID|PROJECT_UPDATE_ID|AWX_LIB_DIRECTORY|AWX_ISOLATED_DATA_DIR|ANSIBLE_STDOUT_CALLBACK|ORIGINAL_STDOUT_CALLBACK|RUNNER_.*)$/;
const SECRET_NAME = /API|TOKEN|KEY|SECRET|PASS/i;
/** Names that look secret but are not: settings of Ansible that every run has, and a user name. */
const PLAIN_NAMES: ReadonlySet<string> = new Set([
  'ANSIBLE_HOST_KEY_CHECKING',
  'ANSIBLE_PARAMIKO_RECORD_HOST_KEYS',
  'AWS_ACCESS_KEY_ID',
]);
const URL_PASSWORD = /^([^:]*:\/\/[^:@/]*:).*(@[^@]*)$/s;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/**
 * Maximum length of the folder of ssh sockets: with ssh's own suffix, a longer path exceeds the
 * system's limit of 108 bytes.
 */
const MAX_SOCKET_DIR_LENGTH = 60;

/** Returns the environment of `ansible-runner` itself, with the mark of the run. */
export function baseEnvironment(source: NodeJS.ProcessEnv, mark: string): Record<string, string> {
  const inherited = Object.entries(source).filter(([name]) => INHERITED.test(name));
  return {
    LANG: 'C.UTF-8',
    ...Object.fromEntries(inherited),
    PYTHONUNBUFFERED: '1',
    [MARK_VARIABLE]: mark,
  };
}

interface EnvironmentParts {
  readonly jobId: number;
  readonly inventoryId?: number;
  readonly projectRevision?: string;
  readonly rolesPaths?: readonly string[];
  readonly collectionsPaths?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly usesFacts?: boolean;
}

/**
 * Returns the environment variables of a run. Variables of credentials and of the administrator
 * override the defaults.
 *
 * @param dir private folder as the run sees it
 */
export function runEnvironment(parts: EnvironmentParts, dir: string): Record<string, string> {
  const socketDir = `${dir}/cp`;
  const custom = Object.entries(parts.env ?? {}).filter(
    ([name, value]) => NAME.test(name) && !RESERVED.test(name) && !value.includes('\0'),
  );
  return {
    ANSIBLE_FORCE_COLOR: 'True',
    ANSIBLE_HOST_KEY_CHECKING: 'False',
    ANSIBLE_PARAMIKO_RECORD_HOST_KEYS: 'False',
    ANSIBLE_INVENTORY_UNPARSED_FAILED: 'True',
    ANSIBLE_RETRY_FILES_ENABLED: 'False',
    ANSIBLE_LOCAL_TEMP: `${dir}/tmp`,
    ...(socketDir.length <= MAX_SOCKET_DIR_LENGTH
      ? { ANSIBLE_SSH_CONTROL_PATH_DIR: socketDir }
      : {}),
    ...(parts.rolesPaths ? { ANSIBLE_ROLES_PATH: parts.rolesPaths.join(':') } : {}),
    ...(parts.collectionsPaths
      ? { ANSIBLE_COLLECTIONS_PATH: parts.collectionsPaths.join(':') }
      : {}),
    ...Object.fromEntries(custom),
    ...(parts.usesFacts ? FACT_CACHE_ENVIRONMENT : {}),
    MAX_EVENT_RES: '700000',
    JOB_ID: String(parts.jobId),
    ...(parts.inventoryId === undefined ? {} : { INVENTORY_ID: String(parts.inventoryId) }),
    ...(parts.projectRevision ? { PROJECT_REVISION: parts.projectRevision } : {}),
    AWX_PRIVATE_DATA_DIR: dir,
  };
}

/**
 * Returns the environment for display. Masks values by name, by `secretNames`, and passwords inside
 * URLs.
 */
export function maskedEnvironment(
  env: Readonly<Record<string, string>>,
  secretNames: ReadonlySet<string>,
): Record<string, string> {
  const entries = Object.entries(env).map(([name, value]): [string, string] => {
    const isHidden = secretNames.has(name) || (SECRET_NAME.test(name) && !PLAIN_NAMES.has(name));
    return [name, isHidden ? MASK : value.replace(URL_PASSWORD, `$1${MASK}$2`)];
  });
  return Object.fromEntries(entries);
}

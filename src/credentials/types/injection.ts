import { posix } from 'node:path';
import { tableOf } from '../../common/records.js';
import { slotErrors, type CombinedCredential } from './combination.js';
import { ASK, type CredentialInputs, type CredentialTypeDefinition } from './definition.js';
import {
  emptyPlan,
  InjectionError,
  withLineBreak,
  type InjectionPlan,
  type InjectionTarget,
  HIDDEN,
} from './injection-plan.js';
import { envNameError, towerFilename } from './injector-schema.js';
import { renderInjector, TemplateError, type TemplateScope } from './injector-template.js';
import {
  missingInputs,
  passwordsNeeded,
  secretInputs,
  textInput,
  vaultPasswordName,
} from './inputs.js';
import { isEncryptedKey } from './ssh-key.js';

/**
 * Passes a network credential to playbooks in the environment variables that Ansible documents for
 * network modules.
 */
function injectNetwork({ plan, addFile }: InjectionTarget, inputs: CredentialInputs): void {
  const authorize = inputs['authorize'] === true;
  const set = (name: string, value: string, isSecret = false): void => {
    plan.env[name] = value;
    plan.safeEnv[name] = isSecret && value !== '' ? HIDDEN : value;
  };
  set('ANSIBLE_NET_USERNAME', textInput(inputs, 'username'));
  set('ANSIBLE_NET_PASSWORD', textInput(inputs, 'password'), true);
  const key = textInput(inputs, 'ssh_key_data');
  if (key !== '') set('ANSIBLE_NET_SSH_KEYFILE', addFile('ssh_key', withLineBreak(key)));
  set('ANSIBLE_NET_AUTHORIZE', authorize ? '1' : '0');
  if (authorize) set('ANSIBLE_NET_AUTH_PASS', textInput(inputs, 'authorize_password'), true);
}

/**
 * Renders the injectors of a credential's type. Files come first, because the other injectors can
 * refer to their paths. Empty results of shipped types are omitted, and so are the paths of empty
 * files: an empty user name beside a token misleads clients.
 */
export function injectCustom(
  { plan, pathOf, addFile }: InjectionTarget,
  { name, type, inputs }: CombinedCredential,
): void {
  const { file = {}, env = {}, extra_vars: extraVars = {} } = type.injectors;
  const scope = inputScope(type, inputs);
  const isOmitted = (rendered: string): boolean => type.managed && rendered === '';
  const render = (label: string, template: string, names: TemplateScope): string =>
    renderFor(`${label} of Credential ${name}`, template, names);
  const fileNames = Object.entries(file).flatMap(([fileName, template]) => {
    const content = render(fileName, template, scope);
    if (isOmitted(content)) return [];
    addFile(fileName, content);
    return [fileName];
  });
  const filename = towerFilename(fileNames, pathOf);
  const tower = { tower: filename === undefined ? {} : { filename } };
  const safeScope = { ...hideSecrets(type, scope), ...tower };
  const fullScope = { ...scope, ...tower };
  for (const [variable, template] of Object.entries(env)) {
    const fault = envNameError(variable);
    if (fault !== null) throw new InjectionError(fault);
    const value = render(variable, template, fullScope);
    if (isOmitted(value)) continue;
    plan.env[variable] = value;
    plan.safeEnv[variable] = render(variable, template, safeScope);
  }
  for (const [variable, template] of Object.entries(extraVars)) {
    const value = render(variable, template, fullScope);
    if (!isOmitted(value)) plan.extraVars[variable] = value;
  }
}

/** Returns the declared inputs. Empty texts are undefined, so that `default(...)` works in templates. */
function inputScope(type: CredentialTypeDefinition, inputs: CredentialInputs): TemplateScope {
  const fields = type.inputs.fields ?? [];
  return Object.fromEntries(
    fields.map(({ id, type: kind, format, default: fallback }): [id: string, value: unknown] => {
      const value = inputs[id] ?? fallback;
      if (kind === 'boolean') return [id, value === true];
      if (typeof value !== 'string' || value === '') return [id, undefined];
      return [id, format === 'ssh_private_key' ? withLineBreak(value) : value];
    }),
  );
}

function hideSecrets(type: CredentialTypeDefinition, scope: TemplateScope): TemplateScope {
  const secrets = secretInputs(type).filter((id) => scope[id] !== undefined);
  return { ...scope, ...tableOf(secrets, () => HIDDEN) };
}

function renderFor(label: string, template: string, scope: TemplateScope): string {
  try {
    return renderInjector(template, scope);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new InjectionError(
      `Job cannot start because ${label} cannot be rendered: ${error.message}.`,
    );
  }
}

/** Values for the names in `passwordsNeeded`. */
export type LaunchPasswords = Readonly<Record<string, string>>;

/** Parameters of a launch in addition to the credentials. */
export interface InjectionOptions {
  passwords: LaunchPasswords;
  /** Absolute path of the folder in which `files` will be written; templates receive paths below it. */
  fileDirectory: string;
}

/**
 * Builds the injection plan of a job's credentials. Writes no files.
 *
 * @throws InjectionError
 */
export function buildInjectionPlan(
  credentials: readonly CombinedCredential[],
  { passwords, fileDirectory }: InjectionOptions,
): InjectionPlan {
  checkUsable(credentials, passwords);
  const plan = emptyPlan();
  for (const [index, credential] of credentials.entries()) {
    const target = targetOf(plan, index, fileDirectory);
    const { type, inputs } = credential;
    if (type.kind === 'ssh') injectMachine(plan, credential, passwords);
    else if (type.kind === 'vault') injectVault(plan, inputs, passwords);
    else if (type.namespace === 'net') injectNetwork(target, inputs);
    else injectCustom(target, credential);
  }
  checkEnvironment(plan);
  plan.secrets = collectSecrets(credentials, passwords);
  return plan;
}

function targetOf(plan: InjectionPlan, index: number, fileDirectory: string): InjectionTarget {
  const nameOf = (fileName: string) => `credential_${index}_${fileName.replace('.', '_')}`;
  const pathOf = (fileName: string) => posix.join(fileDirectory, nameOf(fileName));
  const addFile = (fileName: string, content: string): string => {
    plan.files.push({ name: nameOf(fileName), content });
    return pathOf(fileName);
  };
  return { plan, pathOf, addFile };
}

function checkUsable(credentials: readonly CombinedCredential[], passwords: LaunchPasswords): void {
  // The kinds were verified at launch: inventory sources accept more kinds than jobs.
  const [combination] = slotErrors(credentials);
  if (combination !== undefined) throw new InjectionError(combination);
  for (const { name, type, inputs } of credentials) {
    const missing = missingInputs(type, inputs);
    if (missing.length > 0) {
      throw new InjectionError(
        `Job cannot start because Credential ${name} does not provide one or more required fields ` +
          `(${missing.join(', ')}).`,
      );
    }
  }
  const needed = credentials.flatMap(({ type, inputs }) => passwordsNeeded(type, inputs));
  const missing = needed.filter((name) => !Object.hasOwn(passwords, name));
  if (missing.length > 0) {
    throw new InjectionError(`Missing needed fields: ${missing.join(', ')}.`);
  }
}

/**
 * Maximum size of an environment variable with its name and `=`, and of all variables together, in bytes.
 * Linux limits a variable to 128 KiB with its null character, and variables and arguments to 2 MiB.
 */
const MAX_VARIABLE = 128 * 1024 - 1;
const MAX_ENVIRONMENT = 1024 * 1024;

function checkEnvironment({ env }: InjectionPlan): void {
  let total = 0;
  for (const [name, value] of Object.entries(env)) {
    const size = Buffer.byteLength(`${name}=${value}`);
    total += size;
    if (size > MAX_VARIABLE || total > MAX_ENVIRONMENT) {
      throw new InjectionError(
        `Job cannot start because environment variable ${name} of a credential is too large: ` +
          `a variable can have ${MAX_VARIABLE} bytes with its name, all together ${MAX_ENVIRONMENT}. ` +
          'Use a file instead.',
      );
    }
  }
}

function injectMachine(
  plan: InjectionPlan,
  { type, inputs }: CombinedCredential,
  passwords: LaunchPasswords,
): void {
  const needed = passwordsNeeded(type, inputs);
  // A password that was not prompted for is ignored: the stored password applies.
  const secret = (id: string, name: string) =>
    orNull(needed.includes(name) ? (passwords[name] ?? '') : textInput(inputs, id));
  plan.remoteUser = orNull(textInput(inputs, 'username'));
  plan.becomeMethod = orNull(textInput(inputs, 'become_method'));
  plan.becomeUser = orNull(textInput(inputs, 'become_username'));
  plan.sshPassword = secret('password', 'ssh_password');
  plan.becomePassword = secret('become_password', 'become_password');
  plan.sshKeyData = orNull(withLineBreak(textInput(inputs, 'ssh_key_data')));
  plan.sshPublicKeyData = orNull(withLineBreak(textInput(inputs, 'ssh_public_key_data')));
  plan.sshKeyUnlock = isEncryptedKey(plan.sshKeyData ?? '')
    ? secret('ssh_key_unlock', 'ssh_key_unlock')
    : null;
}

function injectVault(
  plan: InjectionPlan,
  inputs: CredentialInputs,
  passwords: LaunchPasswords,
): void {
  const stored = textInput(inputs, 'vault_password');
  const password = stored === ASK ? (passwords[vaultPasswordName(inputs)] ?? '') : stored;
  plan.vaults.push({ id: textInput(inputs, 'vault_id'), password });
}

function collectSecrets(
  credentials: readonly CombinedCredential[],
  passwords: LaunchPasswords,
): string[] {
  const stored = credentials.flatMap(({ type, inputs }) =>
    secretInputs(type).map((id) => textInput(inputs, id)),
  );
  const secrets = [...stored, ...Object.values(passwords)];
  return [...new Set(secrets.filter((secret) => secret !== '' && secret !== ASK))];
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

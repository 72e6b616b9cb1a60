import { rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { promptsIn, type Prompts } from './launch-options.js';
import { ENCRYPTED } from '../common/fields/text.js';

/** Key of `launch_config` under which the secret answers of a survey stand, sealed one by one. */
const SECRETS = 'survey_passwords';

const contextOf = (jobId: number, name: string): string => rowContext('unified_jobs', jobId, name);

/** `extra_vars` of a job row: JSON text in which secret answers are masked. */
export function maskedVariables(
  variables: Readonly<Record<string, unknown>>,
  secretNames: readonly string[],
): Record<string, unknown> {
  const masked = Object.entries(variables).map(([name, value]) => [
    name,
    secretNames.includes(name) ? ENCRYPTED : value,
  ]);
  return Object.fromEntries(masked) as Record<string, unknown>;
}

/** Names of variables that are stored masked. */
export const maskedNames = (variables: object | null | undefined): string[] =>
  Object.entries(variables ?? {}).flatMap(([name, value]) => (value === ENCRYPTED ? [name] : []));

/** The part of `launch_config` that keeps the secret answers; empty without any. */
export function sealSecrets(
  box: SecretBox,
  jobId: number,
  variables: Readonly<Record<string, unknown>>,
  secretNames: readonly string[],
): Record<string, unknown> {
  if (secretNames.length === 0) return {};
  const sealed = secretNames.map((name) => [
    name,
    box.seal(JSON.stringify(variables[name]), contextOf(jobId, name)),
  ]);
  return { [SECRETS]: Object.fromEntries(sealed) as Record<string, string> };
}

/**
 * The secret answers a job was launched with, by variable: they take the place of the masked values
 * of its `extra_vars`, and must not be shown or logged.
 *
 * @throws UnsealError when they cannot be opened with the installation's keys
 */
export function openSecrets(
  box: SecretBox,
  jobId: number,
  launchConfig: object | null,
): Record<string, unknown> {
  const sealed = (launchConfig as { [SECRETS]?: Record<string, string> } | null)?.[SECRETS] ?? {};
  const opened = Object.entries(sealed).map(([name, text]) => [
    name,
    JSON.parse(box.open(text, contextOf(jobId, name))) as unknown,
  ]);
  return Object.fromEntries(opened) as Record<string, unknown>;
}

/** Names under which a `launch_config` keeps secrets. */
export const sealedNames = (launchConfig: object | null): string[] =>
  Object.keys((launchConfig as { [SECRETS]?: object } | null)?.[SECRETS] ?? {});

/** The prompts of a `launch_config`, without what is kept beside them. */
export const promptsOf = (launchConfig: object | null): Prompts => promptsIn({ ...launchConfig });

/** `start_args` of a run: the passwords of its launch by name, sealed; empty without any. */
export const sealPasswords = (
  box: SecretBox,
  jobId: number,
  passwords: Readonly<Record<string, string>>,
): string =>
  Object.keys(passwords).length === 0
    ? ''
    : box.seal(JSON.stringify(passwords), contextOf(jobId, 'start_args'));

import { entriesOf, exactJson, parseExact, recordOf } from '../common/exact-json.js';
import { rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { BrokenInvariant } from '../common/invariants.js';
import { isTexts, mapValues, tableOf } from '../common/records.js';
import { promptsIn, type Prompts } from './launch-options.js';
import { ENCRYPTED } from '../common/fields/text.js';

/** Key of `launch_config` with the secret answers of a survey, each sealed separately. */
const SECRETS = 'survey_passwords';

/** Secret answers by variable, sealed. */
type SealedSecrets = Readonly<{ [SECRETS]?: Readonly<Record<string, string>> }>;

/** Key of `launch_config` with the names of a workflow job's variables that are artifacts. */
const ARTIFACTS = 'artifact_names';

/** Options of a run's launch: its prompts with masked secret answers, and these answers sealed. */
export type LaunchConfig = Readonly<Prompts> &
  SealedSecrets & { readonly [ARTIFACTS]?: readonly string[] };

/**
 * Returns the names of the variables that a workflow job inherited as artifacts of surrounding
 * runs. Artifacts of its own runs replace them.
 */
export const artifactNamesOf = (launchConfig: LaunchConfig | null): readonly string[] =>
  launchConfig?.[ARTIFACTS] ?? [];

/** Returns the part of `launch_config` with names of artifacts; empty without any. */
export const artifactNamesPart = (names: readonly string[]): Partial<LaunchConfig> =>
  names.length === 0 ? {} : { [ARTIFACTS]: names };

const contextOf = (jobId: number, name: string): string => rowContext('unified_jobs', jobId, name);

/** Returns `extra_vars` of a job row with masked secret answers. */
export function maskedVariables(
  variables: Readonly<Record<string, unknown>>,
  secretNames: readonly string[],
): Readonly<Record<string, unknown>> {
  // Fast path: a workflow can have thousands of nodes.
  if (secretNames.length === 0) return variables;
  const masked = entriesOf(variables).map(
    ([name, value]) => [name, secretNames.includes(name) ? ENCRYPTED : value] as const,
  );
  return recordOf(masked);
}

/** Returns the names of variables that are stored masked. */
export const maskedNames = (variables: object | null | undefined): string[] =>
  Object.entries(variables ?? {}).flatMap(([name, value]) => (value === ENCRYPTED ? [name] : []));

/** Returns the part of `launch_config` with the sealed secret answers; empty without any. */
export function sealSecrets(
  box: SecretBox,
  jobId: number,
  variables: Readonly<Record<string, unknown>>,
  secretNames: readonly string[],
): SealedSecrets {
  if (secretNames.length === 0) return {};
  const sealed = tableOf(secretNames, (name) =>
    box.seal(exactJson(variables[name]), contextOf(jobId, name)),
  );
  return { [SECRETS]: sealed };
}

/**
 * Returns the decrypted secret answers of a job's launch, by variable. The answers replace the masked
 * values of its `extra_vars`, and must not be displayed or logged.
 *
 * @throws UnsealError if they cannot be decrypted with the installation's keys
 */
export function openSecrets(
  box: SecretBox,
  jobId: number,
  launchConfig: LaunchConfig | null,
): Record<string, unknown> {
  return mapValues(launchConfig?.[SECRETS] ?? {}, (text, name): unknown =>
    parseExact(box.open(text, contextOf(jobId, name))),
  );
}

/** Returns the names of the secrets in a `launch_config`. */
export const sealedNames = (launchConfig: LaunchConfig | null): string[] =>
  Object.keys(launchConfig?.[SECRETS] ?? {});

/** Returns the prompts of a `launch_config` without its other keys. */
export const promptsOf = (launchConfig: LaunchConfig | null): Prompts =>
  promptsIn({ ...launchConfig });

/** Returns `start_args` of a run: the sealed passwords of its launch by name; empty without any. */
export const sealPasswords = (
  box: SecretBox,
  jobId: number,
  passwords: Readonly<Record<string, string>>,
): string =>
  Object.keys(passwords).length === 0
    ? ''
    : box.seal(JSON.stringify(passwords), contextOf(jobId, 'start_args'));

/**
 * Returns the passwords of a launch by name.
 *
 * @param sealed `start_args` of the run
 * @throws UnsealError if they cannot be decrypted with the installation's keys
 */
export function openPasswords(
  box: SecretBox,
  jobId: number,
  sealed: string,
): Record<string, string> {
  if (sealed === '') return {};
  const passwords: unknown = JSON.parse(box.open(sealed, contextOf(jobId, 'start_args')));
  if (!isTexts(passwords)) throw new BrokenInvariant('sealed passwords are texts by name');
  return passwords;
}

import { entriesOf, exactJson, parseExact, recordOf } from '../common/exact-json.js';
import { rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { BrokenInvariant } from '../common/invariants.js';
import { isTexts, mapValues, tableOf } from '../common/records.js';
import { promptsIn, type Prompts } from './launch-options.js';
import { ENCRYPTED } from '../common/fields/text.js';

/** Key of `launch_config` under which the secret answers of a survey stand, sealed one by one. */
const SECRETS = 'survey_passwords';

/** Secret answers by variable, sealed. */
type SealedSecrets = Readonly<{ [SECRETS]?: Readonly<Record<string, string>> }>;

/** Key of `launch_config` under which a workflow job keeps which of its variables are artifacts. */
const ARTIFACTS = 'artifact_names';

/** What a run was launched with: its prompts, secret answers masked, and those answers sealed. */
export type LaunchConfig = Readonly<Prompts> &
  SealedSecrets & { readonly [ARTIFACTS]?: readonly string[] };

/**
 * Returns the names of the variables that runs around a workflow job handed to it: artifacts of its
 * own runs take their place.
 */
export const artifactNamesOf = (launchConfig: LaunchConfig | null): readonly string[] =>
  launchConfig?.[ARTIFACTS] ?? [];

/** Returns the part of `launch_config` that keeps names of artifacts; empty without any. */
export const artifactNamesPart = (names: readonly string[]): Partial<LaunchConfig> =>
  names.length === 0 ? {} : { [ARTIFACTS]: names };

const contextOf = (jobId: number, name: string): string => rowContext('unified_jobs', jobId, name);

/** `extra_vars` of a job row: JSON text in which secret answers are masked. */
export function maskedVariables(
  variables: Readonly<Record<string, unknown>>,
  secretNames: readonly string[],
): Readonly<Record<string, unknown>> {
  // There may be thousands, of each node of a workflow.
  if (secretNames.length === 0) return variables;
  const shown = entriesOf(variables).map(
    ([name, value]) => [name, secretNames.includes(name) ? ENCRYPTED : value] as const,
  );
  return recordOf(shown);
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
): SealedSecrets {
  if (secretNames.length === 0) return {};
  const sealed = tableOf(secretNames, (name) =>
    box.seal(exactJson(variables[name]), contextOf(jobId, name)),
  );
  return { [SECRETS]: sealed };
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
  launchConfig: LaunchConfig | null,
): Record<string, unknown> {
  return mapValues(launchConfig?.[SECRETS] ?? {}, (text, name): unknown =>
    parseExact(box.open(text, contextOf(jobId, name))),
  );
}

/** Names under which a `launch_config` keeps secrets. */
export const sealedNames = (launchConfig: LaunchConfig | null): string[] =>
  Object.keys(launchConfig?.[SECRETS] ?? {});

/** The prompts of a `launch_config`, without what is kept beside them. */
export const promptsOf = (launchConfig: LaunchConfig | null): Prompts =>
  promptsIn({ ...launchConfig });

/** `start_args` of a run: the passwords of its launch by name, sealed; empty without any. */
export const sealPasswords = (
  box: SecretBox,
  jobId: number,
  passwords: Readonly<Record<string, string>>,
): string =>
  Object.keys(passwords).length === 0
    ? ''
    : box.seal(JSON.stringify(passwords), contextOf(jobId, 'start_args'));

/**
 * The passwords of a launch by name.
 *
 * @param sealed `start_args` of the run
 * @throws UnsealError when they cannot be opened with the installation's keys
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

import type { SecretBox } from '../common/crypto/secret-box.js';
import { mapValues } from '../common/records.js';
import {
  maskedVariables,
  openSecrets,
  sealedNames,
  sealSecrets,
  type LaunchConfig,
} from '../prompts/launch-secrets.js';
import type { Prompts } from '../prompts/launch-options.js';

type Variables = Record<string, unknown>;

/**
 * Returns the key of a secret answer. A workflow job stores the secret answers of all its nodes by the
 * identifier of the node and the name of the variable. An empty identifier is for defaults of all nodes. The
 * first slash separates both, so a node cannot name the answer of another node.
 */
const keyOf = (identifier: string, name: string): string =>
  `${identifier.replaceAll('%', '%25').replaceAll('/', '%2F')}/${name}`;

/** A part of a workflow's prompts, with the names of its secret variables. */
export interface SecretPrompts {
  identifier: string;
  prompts: Prompts;
  secrets: readonly string[];
}

/** Returns the prompts with masked secrets, for storing and displaying. */
export function maskedPrompts(prompts: Prompts, secrets: readonly string[]): Prompts {
  if (prompts.extra_vars === undefined) return prompts;
  return { ...prompts, extra_vars: maskedVariables(prompts.extra_vars, secrets) };
}

/** Returns the part of the workflow job's `launch_config` with the sealed secret answers. */
export function sealWorkflowSecrets(
  box: SecretBox,
  workflowJobId: number,
  parts: readonly SecretPrompts[],
): Variables {
  const entries = parts.flatMap(({ identifier, prompts, secrets }) => {
    const { extra_vars: variables = {} } = prompts;
    return secrets
      .filter((name) => Object.hasOwn(variables, name))
      .map((name) => [keyOf(identifier, name), variables[name]] as const);
  });
  const values = Object.fromEntries(entries);
  return sealSecrets(box, workflowJobId, values, Object.keys(values));
}

/** Returns the names of the secret variables among the defaults for all nodes. */
export const secretNamesOf = (launchConfig: LaunchConfig | null): string[] =>
  sealedNames(launchConfig)
    .filter((key) => key.startsWith(keyOf('', '')))
    .map((key) => key.slice(keyOf('', '').length));

/**
 * Decrypts the secret answers of a workflow job; returns a function that inserts them into stored
 * prompts.
 */
export function secretFiller(
  box: SecretBox,
  workflowJobId: number,
  launchConfig: LaunchConfig | null,
): (identifier: string, prompts: Prompts) => Prompts {
  const opened = openSecrets(box, workflowJobId, launchConfig);
  return (identifier, prompts) => {
    if (prompts.extra_vars === undefined) return prompts;
    const variables = mapValues(prompts.extra_vars, (value, name) => {
      const key = keyOf(identifier, name);
      return Object.hasOwn(opened, key) ? opened[key] : value;
    });
    return { ...prompts, extra_vars: variables };
  };
}

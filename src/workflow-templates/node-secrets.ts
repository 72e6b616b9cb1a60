import { rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { ENCRYPTED } from '../common/fields/validate.js';

type Variables = Readonly<Record<string, unknown>>;
/** Secret answers of a node by variable, each sealed. */
export type SealedAnswers = Readonly<Record<string, string>>;

const contextOf = (nodeId: number, variable: string): string =>
  rowContext('workflow_job_template_nodes', nodeId, variable);

/** Variables of a node as they are stored: secret answers masked, and kept apart. */
export interface StoredVariables {
  shown: Record<string, unknown>;
  sealed: SealedAnswers;
}

/**
 * Seals the secret answers for the node's row. An answer sent as it was shown keeps what is stored,
 * and is dropped where nothing is.
 *
 * @param secretNames variables whose values are secret
 * @param former what the node has stored
 */
export function sealAnswers(
  box: SecretBox,
  nodeId: number,
  variables: Variables,
  secretNames: readonly string[],
  former: SealedAnswers = {},
): StoredVariables {
  const shown: Record<string, unknown> = {};
  const sealed: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (!secretNames.includes(name)) {
      shown[name] = value;
      continue;
    }
    const kept = value === ENCRYPTED ? former[name] : undefined;
    if (value === ENCRYPTED && kept === undefined) continue;
    shown[name] = ENCRYPTED;
    sealed[name] = kept ?? box.seal(JSON.stringify(value), contextOf(nodeId, name));
  }
  return { shown, sealed };
}

/**
 * The variables of a node with its secret answers in clear.
 *
 * @throws UnsealError when they cannot be opened with the installation's keys
 */
export function openAnswers(
  box: SecretBox,
  nodeId: number,
  shown: Variables,
  sealed: SealedAnswers,
): Record<string, unknown> {
  const opened = Object.entries(sealed).map(([name, text]) => [
    name,
    JSON.parse(box.open(text, contextOf(nodeId, name))) as unknown,
  ]);
  return { ...shown, ...(Object.fromEntries(opened) as Record<string, unknown>) };
}

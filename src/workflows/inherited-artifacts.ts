import { UnsealError, type SecretBox } from '../common/crypto/secret-box.js';
import { resultOr } from '../common/errors/errors.js';
import { exactJson } from '../common/exact-json.js';
import { mergeArtifacts, openArtifacts, type Artifacts } from '../runs/workflow-artifacts.js';

export interface RunWithArtifacts {
  run_id: number;
  artifacts: unknown;
  secret_artifacts: string | null;
}

/** A finished node with its inherited artifacts, and with its run if it had one. */
export interface NodeWithArtifacts extends Partial<RunWithArtifacts> {
  node_id: number;
  ancestor_artifacts: unknown;
  node_secrets: string;
}

export const NO_ARTIFACTS: Artifacts = { open: {}, secret: {} };

/**
 * Maximum size of the artifacts that a node inherits or a nested workflow job passes on, in bytes. Each node
 * passes on what it inherited, so without a maximum the artifacts would grow with each node.
 */
export const MAX_INHERITED_BYTES = 2_000_000;

export const isTooLarge = ({ open, secret }: Artifacts): boolean =>
  Buffer.byteLength(exactJson(open)) + Buffer.byteLength(exactJson(secret)) > MAX_INHERITED_BYTES;

/**
 * Returns the merged artifacts of runs; values of later runs take precedence.
 *
 * @returns null if secret artifacts cannot be decrypted with the installation's keys
 */
export const artifactsOfRuns = (
  box: SecretBox,
  runs: readonly RunWithArtifacts[],
): Artifacts | null =>
  openOrNull(() => mergeArtifacts(runs.map((run) => artifactsOfRun(box, run))));

/**
 * Returns the artifacts of a node's parents. Artifacts of the parents' runs override artifacts that the
 * parents inherited.
 *
 * @returns null if secret artifacts cannot be decrypted with the installation's keys
 */
export const artifactsOfNodes = (
  box: SecretBox,
  nodes: readonly NodeWithArtifacts[],
): Artifacts | null =>
  openOrNull(() =>
    mergeArtifacts([
      ...nodes.map(({ node_id: id, ancestor_artifacts: open, node_secrets: sealed }) =>
        openArtifacts(box, 'workflow_job_nodes', id, { open, sealed }),
      ),
      ...nodes.map((run) => artifactsOfRun(box, run)),
    ]),
  );

function artifactsOfRun(box: SecretBox, run: Partial<RunWithArtifacts>): Artifacts {
  const { run_id: id, artifacts: open, secret_artifacts: sealed = null } = run;
  return typeof id === 'number'
    ? openArtifacts(box, 'unified_jobs', id, { open, sealed })
    : NO_ARTIFACTS;
}

const openOrNull = (open: () => Artifacts): Artifacts | null => resultOr(open, null, UnsealError);

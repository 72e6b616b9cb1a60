/** Shown instead of artifacts that were set under `no_log` (docs/contract/runs.md#artifacts). */
export const HIDDEN_ARTIFACTS = '$hidden due to Ansible no_log flag$';
/** Set by a playbook itself, this artifact hides them all. */
export const HIDES_ARTIFACTS = '_ansible_no_log';

/** Artifacts as the API shows them. */
export function displayArtifacts(data: Record<string, unknown>): Record<string, unknown> | string {
  return data[HIDES_ARTIFACTS] ? HIDDEN_ARTIFACTS : data;
}

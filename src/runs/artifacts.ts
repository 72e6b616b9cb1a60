/** Text that replaces artifacts set under `no_log` (docs/contract/runs.md#artifacts). */
export const HIDDEN_ARTIFACTS = '$hidden due to Ansible no_log flag$';
/** Name of an artifact that hides all artifacts when a playbook sets it. */
export const HIDES_ARTIFACTS = '_ansible_no_log';

/** Returns artifacts for display in the API. */
export function displayArtifacts(data: Record<string, unknown>): Record<string, unknown> | string {
  return data[HIDES_ARTIFACTS] ? HIDDEN_ARTIFACTS : data;
}

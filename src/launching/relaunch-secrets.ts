import type { Actor } from '../common/access.js';
import { Forbidden } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { NewNode } from '../workflows/workflow-rows.service.js';
import { sealedNames } from '../prompts/launch-secrets.js';
import type { UnifiedJob } from '../runs/unified-job.entity.js';

/**
 * Checks that the caller may reuse the secret answers of a run: only the user who launched the run and
 * superusers may.
 *
 * @param names names of the secret answers of a run
 * @throws Forbidden
 */
export function assertOwnSecrets(
  run: RowOf<UnifiedJob>,
  names: readonly string[],
  actor: Actor,
): void {
  if (names.length > 0 && run.created_by_id !== actor.id && !actor.isSuperuser) {
    throw new Forbidden('Job was launched with secret prompts provided by another user.');
  }
}

/** Returns the names of the secret answers of a workflow job and of its nodes. */
export const secretsOf = (job: RowOf<UnifiedJob>, nodes: readonly NewNode[]): string[] => [
  ...sealedNames(job.launch_config),
  ...nodes.flatMap(({ secrets }) => secrets),
];

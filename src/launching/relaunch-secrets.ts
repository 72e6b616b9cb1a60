import type { Actor } from '../common/access.js';
import { Forbidden } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { NewNode } from '../workflows/workflow-rows.js';
import { sealedNames } from '../prompts/launch-secrets.js';

/** Secret answers are used again by whoever gave them. @throws Forbidden */
export function assertOwnSecrets(job: Row, nodes: readonly NewNode[], actor: Actor): void {
  const hasSecrets =
    sealedNames(job.launch_config as object | null).length > 0 ||
    nodes.some(({ secrets }) => secrets.length > 0);
  if (hasSecrets && job.created_by_id !== actor.id && !actor.isSuperuser) {
    throw new Forbidden('Job was launched with secret prompts provided by another user.');
  }
}

import type { Actor } from '../common/access.js';
import { resource } from '../common/resource/registry.js';
import type { ResourceService } from '../common/rest/resource.service.js';
import type { LaunchedRun } from './launch-request.js';

/**
 * Returns the response with the run of a launch; its id is also under the name of its kind
 * (docs/contract/launching.md#launch).
 */
export async function launchedReply(
  resources: ResourceService,
  { id, type, ignored }: LaunchedRun,
  actor: Actor,
): Promise<object> {
  const run = await resources.load(resource(type), id, actor);
  const shown = await resources.show(resource(type), run, actor);
  return { [type]: id, ignored_fields: ignored, ...shown };
}

import type { Actor } from '../common/access.js';
import { resource } from '../common/resource/define-resource.js';
import type { ResourceService } from '../common/rest/resource.service.js';
import type { LaunchedRun } from './launcher.js';

/**
 * Returns the response with a started run; its id is also under the name of its kind
 * (docs/contract/launching.md#launch).
 */
export async function launchedReply(
  resources: ResourceService,
  { id, type }: Pick<LaunchedRun, 'id' | 'type'>,
  actor: Actor,
): Promise<object> {
  const run = await resources.load(resource(type), id, actor);
  return { [type]: id, ...(await resources.show(resource(type), run, actor)) };
}

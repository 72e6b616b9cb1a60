import { applyDecorators, Controller } from '@nestjs/common';
import { ApiBasicAuth, ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { BrokenInvariant } from '../invariants.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { orderLinks } from '../resource/links.js';
import { declareInheritedRoutes } from './route.js';

/**
 * Mounts a controller at the URL of its resource: `/api/v2/<path>/`. Must stand above the `@SubList`
 * decorators so that it runs after them.
 *
 * @param path URL below that of the resource, for a controller whose routes are inherited, so that a
 *   search for the URL finds the controller
 */
export function Resource(
  definition: ResourceDefinition,
  path = `api/v2/${definition.path}`,
): ClassDecorator {
  if (!`${path}/`.startsWith(`api/v2/${definition.path}/`)) {
    throw new BrokenInvariant(`${path} is a URL of ${definition.path}`);
  }
  return applyDecorators(
    (controller: { prototype: object }) => declareInheritedRoutes(controller, definition),
    () => orderLinks(definition),
    Controller(path),
    ApiTags(definition.path),
    ApiBearerAuth(),
    ApiBasicAuth(),
  );
}

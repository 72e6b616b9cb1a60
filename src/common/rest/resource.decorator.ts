import { applyDecorators, Controller } from '@nestjs/common';
import { ApiBasicAuth, ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { linksAsWritten } from '../resource/links.js';
import { declareInheritedRoutes } from './route.js';

/**
 * Mounts a controller at the URL of its resource: `/api/v2/<path>/`. Must stand above the `@SubList`
 * decorators so that it runs after them.
 */
export const Resource = (definition: ResourceDefinition): ClassDecorator =>
  applyDecorators(
    (controller: { prototype: object }) => declareInheritedRoutes(controller, definition),
    () => linksAsWritten(definition),
    Controller(`api/v2/${definition.path}`),
    ApiTags(definition.path),
    ApiBearerAuth(),
    ApiBasicAuth(),
  );

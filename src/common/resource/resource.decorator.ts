import { applyDecorators, Controller } from '@nestjs/common';
import { ApiBasicAuth, ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { ResourceDefinition } from './define-resource.js';

/** Puts a controller at the URL of its resource: `/api/v2/<path>/`. */
export const Resource = (definition: ResourceDefinition): ClassDecorator =>
  applyDecorators(
    Controller(`api/v2/${definition.path}`),
    ApiTags(definition.path),
    ApiBearerAuth(),
    ApiBasicAuth(),
  );

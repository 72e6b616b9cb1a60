import type { ResourceDefinition } from '../common/resource/define-resource.js';
import type { RouteInfo } from '../common/rest/route.js';

/** A list that is refused, and not empty, for those who may read none of its rows. */
export const listForAuditors = (resource: ResourceDefinition): RouteInfo => ({
  kind: 'list',
  access: 'authenticated',
  standing: 'auditor',
  operationId: `${resource.path}_list`,
  summary: `List of ${resource.path.replaceAll('_', ' ')}.`,
  resource,
});

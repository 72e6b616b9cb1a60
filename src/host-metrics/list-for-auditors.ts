import type { ResourceDefinition } from '../common/resource/define-resource.js';
import type { RouteInfo } from '../common/rest/route.js';

/**
 * Returns the route of a list that responds with a refusal, not an empty list, to users who can
 * read none of its rows.
 */
export const listForAuditors = (resource: ResourceDefinition): RouteInfo => ({
  kind: 'list',
  access: 'authenticated',
  standing: 'auditor',
  operationId: `${resource.path}_list`,
  summary: `List of ${resource.path.replaceAll('_', ' ')}.`,
  resource,
});

import type { Predicate, RoleHint } from '../../common/access.js';
import type { RouteInfo } from '../../common/rest/route.js';
import { findResource, type ResourceDefinition } from '../../common/resource/define-resource.js';
import { describeRole } from '../../common/resource/role-descriptions.js';

/**
 * Returns descriptions of the roles that would allow a forbidden request, as far as the policies
 * declare them (docs/contract/access.md#hints-on-refusals). The descriptions depend only on
 * policies, never on objects or grants.
 */
export function rolesThatAllow(info: RouteInfo | undefined): string[] {
  if (!info) return [];
  const rules = [
    ...(info.parent ? [ruleFor(info.parent, info.needs ?? 'read')] : []),
    ...(info.kind === 'create' ? createRules(info) : []),
  ];
  const hints = rules.flatMap((rule) => rule?.hints ?? []);
  return [...new Set(hints.map(sentence))];
}

function ruleFor({ policy }: ResourceDefinition, action: string): Predicate | undefined {
  if (action === 'read') return policy.read;
  if (action === 'change') return policy.change;
  if (action === 'delete') return policy.delete;
  return policy.actions?.[action];
}

/** Returns the rules for creating an object: of the resource, and of required references. */
function createRules({ resource, body = [] }: RouteInfo): (Predicate | undefined)[] {
  const resourceRule = resource?.policy.add?.({});
  const references = body.flatMap(({ target, needs, required }) =>
    target && needs && required ? [ruleFor(target(), needs)] : [],
  );
  return [resourceRule, ...references];
}

function sentence({ type, role }: RoleHint): string {
  const label = findResource(type)?.label ?? type;
  return `${describeRole(type, label, role).name} of the ${label.toLowerCase()}`;
}

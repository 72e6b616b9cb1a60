import { ruleFor, type Predicate, type RoleHint } from '../../common/access.js';
import type { RouteInfo } from '../../common/rest/route.js';
import { findResource } from '../../common/resource/define-resource.js';
import { describeRole } from '../../common/resource/role-descriptions.js';

/**
 * Returns descriptions of the roles that would allow a forbidden request, as far as the policies
 * declare them (docs/contract/access.md#hints-on-refusals). The descriptions depend only on
 * policies, never on objects or grants.
 */
export function rolesThatAllow(info: RouteInfo | undefined): string[] {
  if (!info) return [];
  const rules = [
    ...(info.parent ? [ruleFor(info.parent.policy, info.needs ?? 'read')] : []),
    ...(info.kind === 'create' ? createRules(info) : []),
  ];
  const hints = rules.flatMap((rule) => rule?.hints ?? []);
  return [...new Set(hints.map(sentence))];
}

/** Returns the rules for creating an object: of the resource, and of required references. */
function createRules({ resource, body = [] }: RouteInfo): (Predicate | undefined)[] {
  const resourceRule = resource?.policy.add?.({});
  const references = body.flatMap(({ target, needs, required }) =>
    target && needs && required ? [ruleFor(target().policy, needs)] : [],
  );
  return [resourceRule, ...references];
}

function sentence({ type, role }: RoleHint): string {
  const label = findResource(type)?.label ?? type;
  return `${describeRole(type, label, role).name} of the ${label.toLowerCase()}`;
}

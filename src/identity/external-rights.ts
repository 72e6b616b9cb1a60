import { partsOf } from '../common/fields/text.js';

/** Claims of a login: the members of the ID token and the userinfo response, or the account's attributes. */
export type Claims = Readonly<Record<string, unknown>>;

/** Role of an object; for a system-wide role, the object is null. */
export interface ExternalRole {
  type: 'system' | 'organization' | 'team';
  object: number | null;
  /** Role field, for example `member_role`. */
  field: string;
}

/** Columns of an authenticator map that decide what it grants. */
export interface MapRule {
  id: number;
  name: string;
  order: number;
  map_type: string;
  trigger: string;
  claim: string;
  value: string;
  organization_id: number | null;
  team_id: number | null;
  role: string;
  revoke: boolean;
}

export interface ExternalRights {
  /** Reason why the login is refused; null if it is allowed. */
  refusal: string | null;
  granted: ExternalRole[];
  /** Roles that are not revoked if the authenticator granted them earlier. */
  retained: ExternalRole[];
  /** Ids of the maps whose trigger matches, in order. */
  firedMaps: number[];
}

/** System-wide roles by the type of the map that grants them. */
const SYSTEM_ROLES: Readonly<Record<string, string>> = {
  superuser: 'system_administrator',
  auditor: 'system_auditor',
};

/**
 * Returns the roles that the maps of an authenticator grant for the claims of a login. A matching
 * `deny` map refuses the login. If there are `allow` maps, one of them must match. The other maps
 * grant roles; their order does not matter.
 *
 * @param requiresAllowMap true if everyone can have an account at the provider, so that an
 *   `allow` map is needed
 */
export function externalRights(
  claims: Claims,
  maps: readonly MapRule[],
  requiresAllowMap = false,
): ExternalRights {
  const ordered = maps.toSorted((a, b) => a.order - b.order || a.id - b.id);
  const fired = ordered.filter((map) => fires(map, claims));
  const denied = fired.find(({ map_type: type }) => type === 'deny');
  const isAllowed = ({ map_type: type }: MapRule): boolean => type === 'allow';
  const isNotAllowed = (requiresAllowMap || ordered.some(isAllowed)) && !fired.some(isAllowed);
  return {
    refusal: denied
      ? `The map "${denied.name}" denies the login.`
      : isNotAllowed
        ? 'No map allows the login.'
        : null,
    granted: fired.flatMap(roleOf),
    retained: ordered.filter((map) => !map.revoke && !fired.includes(map)).flatMap(roleOf),
    firedMaps: fired.map(({ id }) => id),
  };
}

function roleOf({ map_type: type, organization_id, team_id, role }: MapRule): ExternalRole[] {
  const system = SYSTEM_ROLES[type];
  if (system !== undefined) return [{ type: 'system', object: null, field: system }];
  if (type === 'organization') return [{ type, object: organization_id, field: role }];
  return type === 'team' ? [{ type, object: team_id, field: role }] : [];
}

function fires({ trigger, claim, value }: MapRule, claims: Claims): boolean {
  if (trigger === 'always') return true;
  const texts = claimTexts(claimAt(claims, claim));
  if (trigger === 'equals') return texts.includes(value);
  if (trigger === 'in') return partsOf(value, '\n').some((line) => texts.includes(line));
  return trigger === 'matches' && texts.some((text) => matchesGlob(value, text));
}

/**
 * Returns a claim by its name, or by a JSON pointer, which starts with a slash: `/realm_access/roles`.
 * Reads own members only.
 */
export function claimAt(claims: Claims, path: string): unknown {
  const names = path.startsWith('/') ? path.slice(1).split('/').map(unescapePointer) : [path];
  return names.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? Reflect.get(value, name)
        : undefined,
    claims,
  );
}

const unescapePointer = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns the texts of a claim with one value or a list of values. Objects have no text. */
const claimTexts = (claim: unknown): string[] =>
  [claim].flat().flatMap((value: unknown) => (isScalar(value) ? [String(value)] : []));

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/**
 * Returns true if a pattern matches the whole text; `*` stands for any characters. Regular expressions are
 * not supported: a claim of a hostile user could make one run for hours.
 */
function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}

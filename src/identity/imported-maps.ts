import { isRecord } from '../common/records.js';
import type { MapRule } from './external-rights.js';
import { textList, type ReferenceSettings } from './reference-settings.js';

/** Map of an imported authenticator. Refers to organizations and teams by name. */
export interface ImportedMap extends Omit<MapRule, 'id' | 'order' | 'organization_id' | 'team_id'> {
  organization?: string;
  team?: string;
}

/** Trigger of a map; `by` is a part of the map's name. */
type Condition = Pick<ImportedMap, 'trigger' | 'claim' | 'value'> & { by: string };

/** Converts an expression of the reference product to conditions. */
export type Conditions = (expression: unknown, about: string) => Condition[];

const ALWAYS: Condition = { trigger: 'always', claim: '', value: '', by: 'always' };

const oneOf = (claim: string, values: readonly string[], by: string): Condition[] =>
  values.length === 0
    ? []
    : [{ trigger: values.length === 1 ? 'equals' : 'in', claim, value: values.join('\n'), by }];

/** Converts DNs of groups. */
export const byGroups: Conditions = (expression) =>
  expression === true ? [ALWAYS] : oneOf('group_dns', textList(expression), 'by group');

/**
 * Converts usernames, mail addresses and regular expressions.
 *
 * @param notes receives the expressions that no map can express
 */
export const byNames =
  (usernameClaim: string, notes: string[]): Conditions =>
  (expression, about) => {
    if (expression === true) return [ALWAYS];
    const texts = textList(expression);
    const plain = texts.filter((text) => !text.startsWith('/'));
    const conditions = [
      ...oneOf(
        'email',
        plain.filter((text) => text.includes('@')),
        'by email',
      ),
      ...oneOf(
        usernameClaim,
        plain.filter((text) => !text.includes('@')),
        'by username',
      ),
    ];
    for (const text of texts.filter((text) => text.startsWith('/'))) {
      const value = patternOf(text);
      if (value === null) notes.push(`${about}: the regular expression ${text}`);
      else conditions.push({ trigger: 'matches', claim: 'email', value, by: `by email ${value}` });
    }
    return conditions;
  };

/** Returns the pattern with `*` that is equivalent to a regular expression; null if none is. */
export function patternOf(text: string): string | null {
  const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? [];
  if (source === '' || flags.includes('i')) return null;
  const unanchored = source.endsWith('$') ? source.slice(0, -1) : `${source}.*`;
  const pattern = unanchored
    .replace(/^\^/, '')
    .replaceAll('.*', '\0')
    .replace(/\\([^\w])/g, '$1\x01');
  // Special characters that were not escaped lack the mark.
  if (/[.^$|?+()[\]{}\\](?!\x01)|\*(?!\x01)/.test(pattern)) return null;
  return pattern.replaceAll('\x01', '').replaceAll('\0', '*');
}

const revokes = (value: unknown): boolean => value !== false;

/** Returns the maps of the settings `*_ORGANIZATION_MAP` and `*_TEAM_MAP`. */
export function membershipMaps(
  organizations: unknown,
  teams: unknown,
  conditions: Conditions,
): ImportedMap[] {
  const maps: ImportedMap[] = [];
  for (const [organization, rule] of entriesOf(organizations)) {
    for (const [key, role] of ORGANIZATION_ROLES) {
      const about = `${organization}, ${key}`;
      for (const { by, ...condition } of conditions(rule[key], about)) {
        const revoke = revokes(rule[`remove_${key}`] ?? rule.remove);
        const name = `${organization}: ${key} ${by}`;
        maps.push({ name, map_type: 'organization', ...condition, role, organization, revoke });
      }
    }
  }
  for (const [team, rule] of entriesOf(teams)) {
    const organization = typeof rule.organization === 'string' ? rule.organization : '';
    for (const { by, ...condition } of conditions(rule.users, `team ${team}`)) {
      const name = `${organization}, team ${team}: users ${by}`;
      const grant = { role: 'member_role', organization, team, revoke: revokes(rule.remove) };
      maps.push({ name, map_type: 'team', ...condition, ...grant });
    }
  }
  return maps;
}

const ORGANIZATION_ROLES = [
  ['admins', 'admin_role'],
  ['auditors', 'auditor_role'],
  ['users', 'member_role'],
] as const;

const entriesOf = (map: unknown): [string, Record<string, unknown>][] =>
  Object.entries(isRecord(map) ? map : {}).filter(
    (entry): entry is [string, Record<string, unknown>] => isRecord(entry[1]),
  );

/** Returns the maps of the settings of a backend, or else of the settings for all backends. */
export const socialMaps = (
  settings: ReferenceSettings,
  backend: string,
  conditions: Conditions,
): ImportedMap[] =>
  membershipMaps(
    settings.value(`SOCIAL_AUTH_${backend}_ORGANIZATION_MAP`) ??
      settings.value('SOCIAL_AUTH_ORGANIZATION_MAP'),
    settings.value(`SOCIAL_AUTH_${backend}_TEAM_MAP`) ?? settings.value('SOCIAL_AUTH_TEAM_MAP'),
    conditions,
  );

/** Returns a map that allows or denies a login, or grants a system-wide role; none without values. */
export const systemMap = (
  type: 'allow' | 'deny' | 'superuser' | 'auditor',
  claim: string,
  values: readonly string[],
): ImportedMap[] =>
  oneOf(claim, values, '').map(({ trigger, value }) => ({
    name: `${type} by ${claim}`,
    map_type: type,
    trigger,
    claim,
    value,
    role: '',
    revoke: true,
  }));

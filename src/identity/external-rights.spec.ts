import fc from 'fast-check';
import { claimAt, externalRights, type Claims, type MapRule } from './external-rights.js';

const TEAM: MapRule = {
  id: 1,
  name: 'Operators',
  order: 1,
  map_type: 'team',
  trigger: 'equals',
  claim: 'groups',
  value: 'ops',
  organization_id: null,
  team_id: 7,
  role: 'member_role',
  revoke: true,
};
const MEMBER = { type: 'team', object: 7, field: 'member_role' };

const map = (changes: Partial<MapRule>): MapRule => ({ ...TEAM, ...changes });
const grants = (changes: Partial<MapRule>, claims: Claims): unknown[] =>
  externalRights(claims, [map(changes)]).granted;

describe('the trigger of a map', () => {
  it.each([
    ['always', { trigger: 'always' }, {}],
    ['a text that equals', {}, { groups: 'ops' }],
    ['one of a list that equals', {}, { groups: ['dev', 'ops'] }],
    ['a number', { value: '7' }, { groups: 7 }],
    ['a truth', { claim: 'email_verified', value: 'true' }, { email_verified: true }],
    ['one of several lines', { trigger: 'in', value: 'dev\n ops \n' }, { groups: ['ops'] }],
    ['a pattern', { trigger: 'matches', value: 'ops-*' }, { groups: ['ops-berlin'] }],
    ['a pattern in the middle', { trigger: 'matches', value: '*-b*n' }, { groups: 'ops-berlin' }],
    ['a pattern of everything', { trigger: 'matches', value: '*' }, { groups: '' }],
    ['a nested claim', { claim: '/realm/roles' }, { realm: { roles: ['ops'] } }],
    ['a name with a slash', { claim: 'https://x/groups' }, { 'https://x/groups': ['ops'] }],
    ['an escaped pointer', { claim: '/https:~1~1x/g~0' }, { 'https://x': { 'g~': 'ops' } }],
    ['a place in a list', { claim: '/groups/1' }, { groups: ['dev', 'ops'] }],
  ])('matches %s', (_name, changes, claims) => {
    expect(grants(changes, claims)).toEqual([MEMBER]);
  });

  it.each([
    ['a claim that is missing', {}, {}],
    ['another value', {}, { groups: ['opsx', 'OPS', ' ops'] }],
    ['an object', {}, { groups: { ops: 'ops' } }],
    ['a list in a list', {}, { groups: [['ops']] }],
    ['null', { value: 'null' }, { groups: null }],
    ['an empty line', { trigger: 'in', value: '\n' }, { groups: [''] }],
    ['part of a pattern', { trigger: 'matches', value: 'ops' }, { groups: 'ops-berlin' }],
    ['an overlap of a pattern', { trigger: 'matches', value: 'ab*ba' }, { groups: 'aba' }],
    ['the order of a pattern', { trigger: 'matches', value: '*a*b' }, { groups: 'bac' }],
    ['a regular expression', { trigger: 'matches', value: 'o.s|^ops$' }, { groups: 'ops' }],
    ['an inherited member', { claim: 'constructor', trigger: 'matches', value: '*' }, {}],
    ['an inherited member of a path', { claim: '/groups/length', value: '3' }, { groups: 'ops' }],
    ['an unknown trigger', { trigger: 'never' }, { groups: 'ops' }],
  ])('does not match %s', (_name, changes, claims) => {
    expect(grants(changes, claims)).toEqual([]);
  });

  it('stays fast for a hostile pattern and claim', () => {
    const startedAt = process.cpuUsage();
    const claims = { groups: 'a'.repeat(60_000) };
    grants({ trigger: 'matches', value: `${'*a'.repeat(250)}*b` }, claims);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
  });

  it('reads any path in any claims', () => {
    fc.assert(
      fc.property(fc.object(), fc.string(), (claims, path) => {
        claimAt(claims, path);
        claimAt(claims, `/${path}`);
      }),
    );
  });
});

describe('the effect of a map', () => {
  const always = { trigger: 'always' };
  it.each([
    ['superuser', { type: 'system', object: null, field: 'system_administrator' }],
    ['auditor', { type: 'system', object: null, field: 'system_auditor' }],
    ['organization', { type: 'organization', object: 3, field: 'member_role' }],
    ['team', MEMBER],
  ])('of type %s grants a role', (type, role) => {
    expect(grants({ ...always, map_type: type, organization_id: 3 }, {})).toEqual([role]);
  });

  it.each(['allow', 'deny', 'unknown'])('of type %s grants nothing', (type) => {
    expect(grants({ ...always, map_type: type }, {})).toEqual([]);
  });

  it('keeps a role if the map does not revoke roles', () => {
    const { granted, retained } = externalRights({}, [
      map({ revoke: false }),
      map({ id: 2, team_id: 8 }),
      map({ id: 3, team_id: 9, trigger: 'always', revoke: false }),
    ]);
    expect(retained).toEqual([MEMBER]);
    expect(granted).toEqual([{ ...MEMBER, object: 9 }]);
  });

  it('lists the maps that matched in their order', () => {
    const maps = [map({ id: 1, order: 5 }), map({ id: 2, order: 1 }), map({ id: 3, value: 'dev' })];
    expect(externalRights({ groups: 'ops' }, maps).firedMaps).toEqual([2, 1]);
  });
});

describe('the login', () => {
  const allow = map({ map_type: 'allow', name: 'Staff', value: 'staff' });
  const deny = map({ id: 2, map_type: 'deny', name: 'Leavers', value: 'left' });
  it.each([
    ['without maps', [], {}, null],
    ['with maps that grant only', [TEAM], {}, null],
    ['with an allowance', [allow, deny], { groups: ['staff'] }, null],
    ['without any allowance', [allow], { groups: ['x'] }, 'No map allows the login.'],
    ['with a denial', [deny], { groups: ['left'] }, 'The map "Leavers" denies the login.'],
    [
      'with both, whatever their order',
      [allow, { ...deny, order: 9 }],
      { groups: ['staff', 'left'] },
      'The map "Leavers" denies the login.',
    ],
    ['with a denial that does not fire', [deny], { groups: ['staff'] }, null],
  ])('%s', (_name, maps, claims, refusal) => {
    expect(externalRights(claims, maps).refusal).toBe(refusal);
  });
});

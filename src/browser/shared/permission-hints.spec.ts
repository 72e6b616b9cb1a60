import { anyOf, everyone, superusersOnly, withHints, type Predicate } from '../../common/access.js';
import type { RouteInfo } from '../../common/rest/route.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { rolesThatAllow } from './permission-hints.js';

const holds = (type: string, role: string): Predicate => withHints(everyone, { type, role });

const parent = {
  policy: {
    read: anyOf(holds('thing', 'read_role'), superusersOnly, holds('box', 'auditor_role')),
    change: holds('thing', 'admin_role'),
  },
} as unknown as ResourceDefinition;

const info = (more: Partial<RouteInfo>): RouteInfo => ({
  kind: 'retrieve',
  operationId: 'things_retrieve',
  summary: '',
  parent,
  ...more,
});

describe('rolesThatAllow', () => {
  it('names the roles of the rule that refused the request', () => {
    expect(rolesThatAllow(info({}))).toEqual(['Read of the thing', 'Auditor of the box']);
    expect(rolesThatAllow(info({ needs: 'change' }))).toEqual(['Admin of the thing']);
  });

  it('returns an empty list if the rule names no role', () => {
    expect(rolesThatAllow(info({ needs: 'delete' }))).toEqual([]);
    expect(rolesThatAllow(undefined)).toEqual([]);
  });
});

import { hasRoleOn, refersTo } from '../access/predicates.js';
import { anyOf, everyone, isActor, type Predicate } from '../common/access.js';
import { TRUE } from '../database/sql.js';
import { defineResource, extendEach } from '../common/resource/define-resource.js';
import { Token } from './token.entity.js';
import { TokenHooks } from './token.hooks.js';

export const MASKED_TOKEN = '************';

/** Permits the owner of a token, and users with a role on the organization of its application. */
const isOwnerOr = (role: string): Predicate =>
  anyOf(
    isActor('user_id'),
    refersTo(
      'application_id',
      'o_auth2_application',
      hasRoleOn('organization_id', 'organization', role),
    ),
  );

export const tokens = defineResource({
  path: 'tokens',
  type: 'o_auth2_access_token',
  label: 'Access Token',
  entity: Token,
  hooks: TokenHooks,
  orderBy: ['id'],
  auditParent: { field: 'user', type: 'user' },
  summary: ['id', 'description', 'scope'],
  unique: { tokens_digest_key: 'Try again.' },
  policy: {
    read: isOwnerOr('auditor_role'),
    add: () => everyone,
    mayAdd: () => TRUE,
    change: isActor('user_id'),
    delete: isOwnerOr('admin_role'),
  },
  extend: async (rows) =>
    extendEach(rows, (row) => ({
      fields: {
        token: MASKED_TOKEN,
        refresh_token: row.application_id === null ? null : MASKED_TOKEN,
      },
    })),
});

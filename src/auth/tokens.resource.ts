import { everyone, isActor } from '../common/access.js';
import { TRUE } from '../database/sql.js';
import { leadsNowhere } from '../common/resource/relation-condition.js';
import { defineResource } from '../common/resource/define-resource.js';
import { Token } from './token.entity.js';

export const MASKED_TOKEN = '************';

export const tokens = defineResource({
  path: 'tokens',
  type: 'o_auth2_access_token',
  label: 'Access Token',
  entity: Token,
  orderBy: ['id'],
  auditParent: { field: 'user', type: 'user' },
  summary: ['id', 'description', 'scope'],
  unique: [{ name: 'tokens_digest_key', field: '__all__', message: 'Try again.' }],
  policy: {
    read: isActor('user_id'),
    add: () => everyone,
    mayAdd: () => TRUE,
    change: isActor('user_id'),
    delete: isActor('user_id'),
  },
  relations: { application: leadsNowhere('o_auth2_application') },
  extend: async (rows) =>
    new Map(
      rows.map((row) => [
        row.id,
        { fields: { token: MASKED_TOKEN, refresh_token: null, application: null } },
      ]),
    ),
});

import { everyone, superusersOnly } from '../common/access.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { CredentialTypeHooks } from './credential-type.hooks.js';
import { CredentialType } from './credential-type.entity.js';

export const credentialTypes = defineResource({
  path: 'credential_types',
  type: 'credential_type',
  entity: CredentialType,
  orderBy: ['kind', 'name'],
  hooks: CredentialTypeHooks,
  naturalKey: ['name', 'kind'],
  unique: {
    credential_types_name_kind_key: 'Credential type with this Name and Kind already exists.',
  },
  policy: {
    read: everyone,
    add: () => superusersOnly,
    change: superusersOnly,
    delete: superusersOnly,
  },
  relations: {
    credentials: hasMany('credential', 'credential_type'),
  },
  // Even superusers cannot change a shipped type. Clients read the capabilities before they try.
  extend: async (rows) =>
    new Map(
      rows
        .filter(({ managed }) => managed === true)
        .map(({ id }) => [
          id,
          { summary_fields: { user_capabilities: { edit: false, delete: false } } },
        ]),
    ),
});

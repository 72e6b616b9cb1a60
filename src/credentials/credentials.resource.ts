import { hasRole, hasRoleOn } from '../access/predicates.js';
import { allOf, everyone } from '../common/access.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { sql, TRUE } from '../database/sql.js';
import { CredentialHooks } from './credential.hooks.js';
import { Credential, ofType } from './credential.entity.js';
import { CredentialExtension, CREDENTIAL_SHOWS } from './credential.extension.js';

export const credentials = defineResource({
  path: 'credentials',
  type: 'credential',
  entity: Credential,
  pages: {
    list: { about: 'Secrets that runs log in with. Their values are never shown.' },
    kind: (alias) => ofType(alias, sql`type.name`),
  },
  hooks: CredentialHooks,
  naturalKey: ['name', 'credential_type', 'organization'],
  auditHidden: ['inputs'],
  unique: {
    credentials_organization_name_type_key:
      'Credential with this Organization, Name and Credential type already exists.',
  },
  roles: [
    { field: 'admin_role', impliedByParent: { organization: ['credential_admin_role'] } },
    { field: 'use_role', impliedBy: ['admin_role'] },
    {
      field: 'read_role',
      impliedBy: ['use_role', 'admin_role'],
      impliedByParent: { organization: ['auditor_role'] },
    },
  ],
  summary: ['id', 'name', 'description', 'credential_type_id'],
  summarize: (alias) => ({
    kind: ofType(alias, sql`COALESCE(type.namespace, '')`),
    cloud: ofType(alias, sql`type.kind = 'cloud'`),
    kubernetes: ofType(alias, sql`type.kind = 'kubernetes'`),
  }),
  capabilities: { edit: 'change', delete: 'delete', copy: 'copy', use: 'use' },
  policy: {
    read: hasRole('credential', 'read_role'),
    // The hooks verify the owner: user, team or organization.
    add: () => everyone,
    mayAdd: () => TRUE,
    change: hasRole('credential', 'admin_role'),
    delete: hasRole('credential', 'admin_role'),
    actions: {
      use: hasRole('credential', 'use_role'),
      copy: allOf(
        hasRole('credential', 'read_role'),
        hasRoleOn('organization_id', 'organization', 'credential_admin_role'),
      ),
    },
  },
  aliases: { target_input_sources: 'credential_input_sources' },
  relations: {
    input_sources: hasMany('credential_input_source', 'target_credential'),
  },
  extension: CredentialExtension,
  shows: CREDENTIAL_SHOWS,
});

import { hasRoleOn, holdsAny } from '../access/predicates.js';
import { allOf, everyone } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { CredentialInputSourceHooks } from './credential-input-source.hooks.js';
import { CredentialInputSource } from './credential-input-source.entity.js';

const administersTarget = hasRoleOn('target_credential_id', 'credential', 'admin_role');

export const credentialInputSources = defineResource({
  path: 'credential_input_sources',
  type: 'credential_input_source',
  entity: CredentialInputSource,
  orderBy: ['target_credential', 'input_field_name'],
  summary: ['id', 'description', 'input_field_name'],
  hooks: CredentialInputSourceHooks,
  auditParent: { field: 'target_credential', type: 'credential' },
  unique: {
    credential_input_sources_target_field_key:
      'Credential input source with this Target credential and Input field name already exists.',
  },
  policy: {
    read: hasRoleOn('target_credential_id', 'credential', 'read_role'),
    // Permission is checked through the references, which require admin on the target and use on the
    // source.
    add: () => everyone,
    mayAdd: (actor) => holdsAny('credential', ['admin_role'], actor),
    change: allOf(administersTarget, hasRoleOn('source_credential_id', 'credential', 'use_role')),
    delete: administersTarget,
  },
});

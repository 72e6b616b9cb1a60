import { hasRoleOn, holdsAny } from '../access/predicates.js';
import { everyone } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { Application } from './application.entity.js';
import { ApplicationExtension } from './application.extension.js';
import { ApplicationHooks } from './application.hooks.js';

const isAdministrator = hasRoleOn('organization_id', 'organization', 'admin_role');

export const applications = defineResource({
  path: 'applications',
  type: 'o_auth2_application',
  label: 'Application',
  entity: Application,
  hooks: ApplicationHooks,
  orderBy: ['organization', 'name'],
  summary: ['id', 'name'],
  naturalKey: ['name', 'organization'],
  pages: {
    list: { about: 'Programs that act for users with tokens that they granted (OAuth 2).' },
    columns: ['name', 'organization', 'client_type', 'authorization_grant_type'],
  },
  unique: {
    applications_organization_name_key:
      'Application with this Name and Organization already exists.',
    applications_client_id_key: 'Try again.',
  },
  policy: {
    read: hasRoleOn('organization_id', 'organization', 'read_role'),
    // The reference checks that the caller administers the organization.
    add: () => everyone,
    mayAdd: (actor) => holdsAny('organization', ['admin_role'], actor),
    change: isAdministrator,
    delete: isAdministrator,
  },
  relations: {
    tokens: hasMany('o_auth2_access_token', 'application'),
  },
  extension: ApplicationExtension,
  shows: {
    // Public clients have no secret.
    optional: ['client_secret'],
    summary_fields: {
      tokens: json.object({
        count: json.INTEGER,
        results: json.list(
          json.object({ id: json.INTEGER, scope: json.STRING, token: json.STRING }),
        ),
      }),
    },
  },
});

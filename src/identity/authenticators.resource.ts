import { isActor, superusersOnly, type Policy } from '../common/access.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { memberOf } from '../common/records.js';
import {
  defineResource,
  extendEach,
  hasMany,
  resource,
} from '../common/resource/define-resource.js';
import { ident, sql } from '../database/sql.js';
import { AuthenticatorMap, Authenticator, ExternalIdentity } from './authenticator.entity.js';
import { secretOf } from './authenticator-kinds.js';
import { AuthenticatorHooks, AuthenticatorMapHooks } from './authenticator.hooks.js';
import { ExternalIdentityHooks } from './external-identity.hooks.js';
import { identifiedUsers } from './external-identities.repository.js';

const policy: Policy = {
  read: superusersOnly,
  listRefusal: 'Superuser privileges needed.',
  add: () => superusersOnly,
  change: superusersOnly,
  delete: superusersOnly,
};

export const authenticators = defineResource({
  path: 'authenticators',
  type: 'authenticator',
  entity: Authenticator,
  hooks: AuthenticatorHooks,
  orderBy: ['order', 'id'],
  naturalKey: ['slug'],
  auditHidden: ['configuration'],
  pages: {
    list: { about: 'Identity providers that users log in with, besides local passwords.' },
    columns: ['name', 'kind', 'slug', 'enabled', 'order', 'create_users'],
  },
  unique: {
    authenticators_name_key: { name: 'Authenticator with this Name already exists.' },
    authenticators_slug_key: { slug: 'Authenticator with this Slug already exists.' },
  },
  policy,
  relations: {
    maps: hasMany('authenticator_map', 'authenticator'),
    identities: hasMany('external_identity', 'authenticator'),
    users: {
      kind: 'computed',
      target: () => resource('user'),
      condition: (id, alias) => sql`${ident(alias, 'id')} IN (${identifiedUsers(id)})`,
    },
  },
  extend: async (rows) =>
    extendEach(rows, ({ id, kind, slug, configuration }) => ({
      fields: {
        configuration: masked(kind, configuration),
        callback_url: kind === 'ldap' ? '' : `/sso/callback/${slug}/`,
      },
      related: { test: `/api/v2/authenticators/${id}/test/` },
    })),
  shows: { related: ['test'] },
});

function masked(kind: string, configuration: object): object {
  const { name = '' } = secretOf(kind) ?? {};
  return memberOf(configuration, name) ? { ...configuration, [name]: ENCRYPTED } : configuration;
}

export const authenticatorMaps = defineResource({
  path: 'authenticator_maps',
  type: 'authenticator_map',
  entity: AuthenticatorMap,
  hooks: AuthenticatorMapHooks,
  orderBy: ['authenticator', 'order', 'id'],
  summary: ['id', 'name', 'map_type'],
  auditParent: { field: 'authenticator', type: 'authenticator' },
  pages: {
    list: { about: 'Rules that turn the claims of a login into roles.' },
    within: 'authenticator',
    columns: ['name', 'map_type', 'trigger', 'claim', 'value', 'role'],
    sections: {
      When: ['trigger', 'claim', 'value'],
      Effect: ['map_type', 'organization', 'team', 'role', 'revoke'],
    },
    unfolded: ['When', 'Effect'],
  },
  unique: {
    authenticator_maps_name_key:
      'Authenticator map with this Authenticator and Name already exists.',
  },
  policy,
});

export const externalIdentities = defineResource({
  path: 'external_identities',
  type: 'external_identity',
  entity: ExternalIdentity,
  hooks: ExternalIdentityHooks,
  orderBy: ['id'],
  summary: ['id', 'subject'],
  auditParent: { field: 'user', type: 'user' },
  capabilities: { delete: 'delete' },
  pages: {
    list: { about: 'Accounts of identity providers, and the users that they log in.' },
    within: 'authenticator',
    columns: ['subject', 'user', 'created'],
  },
  unique: {
    external_identities_subject_key: { subject: 'This account is already linked to a user.' },
  },
  policy: {
    read: isActor('user_id'),
    add: () => superusersOnly,
    delete: superusersOnly,
  },
});

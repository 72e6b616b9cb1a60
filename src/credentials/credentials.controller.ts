import { usersGranted } from '../access/role-members.repository.js';
import { teamsGranted } from '../access/role-teams.repository.js';
import { rolesOf } from '../access/roles.repository.js';
import { accessList, objectRoles } from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import { entryOf } from '../common/invariants.js';
import { Copyable, type CopyContext } from '../common/rest/copy.js';
import type { Row } from '../common/resource/define-resource.js';
import type { Values } from '../common/rest/hooks.js';
import { resource } from '../common/resource/registry.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { listOf } from '../common/rest/sublist-kinds.js';
import { sql, type Sql } from '../database/sql.js';
import { noneOf } from '../empty-lists/sublists.js';
import { CredentialSecrets } from './credential-secrets.service.js';
import { credentials } from './credentials.resource.js';

const adminRole = ({ id }: Row): Sql => rolesOf('credential', [id], 'admin_role');

@Resource(credentials)
@Copyable({ values: openedValues })
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
@SubList('input_sources', noneOf('credential_input_source'))
@SubList(
  'owner_users',
  listOf(
    () => resource('user'),
    (credential) => sql`t.id IN (${usersGranted(adminRole(credential))})`,
  ),
)
@SubList(
  'owner_teams',
  listOf(
    () => resource('team'),
    (credential) => sql`t.id IN (${teamsGranted(adminRole(credential))})`,
  ),
)
export class CredentialsController extends ResourceController(credentials) {}

/** Sealed secrets do not open in another row: the copy gets them in clear and seals them anew. */
async function openedValues(original: Row, { services, actor }: CopyContext): Promise<Values> {
  const opened = await services.find(CredentialSecrets).open([original.id]);
  // Only a superuser copies a private credential; the copy has to belong to somebody.
  const owner = original.organization_id === null ? { user: actor.id } : {};
  return { inputs: entryOf(opened, original.id).inputs, ...owner };
}

import { accessList, objectRoles, roleHolders } from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import { attachInstanceGroups } from '../instances/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import {
  attached,
  children,
  type LinkContext,
  SubList,
  type SubListFactory,
} from '../common/rest/sublist.js';
import { attachNotifications, ownedNotifications } from '../notifications/sublists.js';
import { BadRequest } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { CredentialTypesRepository } from '../credentials/credential-types.repository.js';
import { organizations } from './organizations.resource.js';

/** Declares `galaxy_credentials/` of an organization: the collection servers, in order of precedence. */
const attachGalaxyCredentials = (): SubListFactory =>
  attached('galaxy_credentials', {
    rules: CredentialTypesRepository,
    childNeeds: 'use',
    check: assertGalaxy,
  });

async function assertGalaxy(
  { rules: types }: LinkContext<Row, CredentialTypesRepository>,
  credential: Row,
): Promise<void> {
  const type = await types.referenced(credential.credential_type_id);
  if (type.kind !== 'galaxy') {
    throw new BadRequest(`Credential must be a Galaxy credential, not ${type.name}.`);
  }
}

@Resource(organizations)
@SubList('users', roleHolders('member_role'))
@SubList('admins', roleHolders('admin_role'))
@SubList('teams', children('teams'))
@SubList('projects', children('projects'))
@SubList('inventories', children('inventories', { readOnly: true }))
@SubList('credentials', children('credentials'))
@SubList('job_templates', children('job_templates', { needs: 'read' }))
@SubList('workflow_job_templates', children('workflow_job_templates'))
@SubList('notification_templates', ownedNotifications())
@SubList('notification_templates_started', attachNotifications())
@SubList('notification_templates_success', attachNotifications())
@SubList('notification_templates_error', attachNotifications())
@SubList('notification_templates_approvals', attachNotifications())
@SubList('instance_groups', attachInstanceGroups())
@SubList('galaxy_credentials', attachGalaxyCredentials())
@SubList('execution_environments', children('execution_environments'))
@SubList('applications', children('applications', { readOnly: true }))
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class OrganizationsController extends ResourceController(organizations) {}

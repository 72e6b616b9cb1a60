import { BadRequest, Forbidden } from '../common/errors/errors.js';
import { listOf } from '../common/records.js';
import {
  manyToMany,
  type ResourceDefinition,
  type Row,
} from '../common/resource/define-resource.js';
import { attached, related, type LinkContext, type SubListSpec } from '../common/rest/sublist.js';
import { TRUE } from '../database/sql.js';
import { updatePolicyList, DEFAULT_GROUP } from './instance-groups.repository.js';

/**
 * Returns the `instance_groups` relation of a resource: the preferred groups of its jobs, best
 * first.
 */
export const preferredGroups = (type: string) =>
  manyToMany('instance_group', {
    table: `${type}_instance_groups`,
    sourceColumn: `${type}_id`,
    ordered: true,
  });

/**
 * Declares the sub-list `instance_groups/` of an object: users who can change the object attach
 * groups that they can use.
 */
export const attachInstanceGroups = (): ((
  definition: ResourceDefinition,
  name: string,
) => SubListSpec) => attached('instance_groups', { childNeeds: 'use', check: assertMayPrefer });

/**
 * Declares the sub-list `instances/` of a group: superusers attach instances, which adds them to its policy
 * list; the default group contains all instances.
 */
export const machinesOfGroup =
  (): ((definition: ResourceDefinition, name: string) => SubListSpec) => (definition, name) => {
    const spec = attached('instances', {
      needs: 'instances',
      check: (context, machine) => setListed(context, machine, true),
      beforeDetach: (context, machine) => setListed(context, machine, false),
    })(definition, name);
    const scope: SubListSpec['scope'] = (parent, context) =>
      parent.name === DEFAULT_GROUP ? TRUE : spec.scope(parent, context);
    return { ...spec, scope };
  };

/** Declares the sub-list `instance_groups/` of an instance: its changes are those of `machinesOfGroup`. */
export const groupsOfMachine =
  (groups: ResourceDefinition): ((definition: ResourceDefinition, name: string) => SubListSpec) =>
  (definition, name) => {
    const { attach, detach } = machinesOfGroup()(groups, 'instances');
    const ofGroup = (context: LinkContext, parent: Row): LinkContext => ({
      ...context,
      parent,
      parentDefinition: groups,
    });
    return related('instance_groups', {
      attach: async (context, group) => attach?.(ofGroup(context, group), context.parent),
      detach: async (context, group) => detach?.(ofGroup(context, group), context.parent),
    })(definition, name);
  };

/**
 * Adds a machine to the policy list of a group or removes it, so that policies keep the change.
 *
 * @throws BadRequest for the default group, which contains every machine
 */
async function setListed(
  { services, parent, parentDefinition }: LinkContext,
  { hostname }: Row,
  isListed: boolean,
): Promise<void> {
  if (parent.name === DEFAULT_GROUP) {
    throw new BadRequest('Every instance is in the default instance group.');
  }
  const before = listOf(parent.policy_instance_list);
  if (before.includes(hostname) === isListed) return;
  const after = isListed ? [...before, hostname] : before.filter((name) => name !== hostname);
  await services.database.execute(updatePolicyList(parent.id, String(hostname), isListed));
  services.activity.recordUpdate(parentDefinition, parent, {
    policy_instance_list: [before, after],
  });
}

/**
 * Requires a superuser for an object without an organization, because no organization administrator
 * is responsible for its capacity.
 */
async function assertMayPrefer({ actor, parent, parentDefinition }: LinkContext, _group: Row) {
  const isOwned = parentDefinition.type === 'organization' || parent.organization_id !== null;
  if (!isOwned && !actor.isSuperuser) throw new Forbidden();
}

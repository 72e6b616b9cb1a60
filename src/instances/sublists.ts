import { BadRequest, Forbidden } from '../common/errors/errors.js';
import type { Relation, ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import type { LinkContext, SubListSpec } from '../common/rest/sublist.js';
import { attached } from '../common/rest/sublist-kinds.js';
import { ident, sql, TRUE } from '../database/sql.js';
import { DEFAULT_GROUP } from './instance-groups.repository.js';

/**
 * Returns the `instance_groups` relation of a resource: the preferred groups of its jobs, best
 * first.
 */
export const preferredGroups = (type: string): Relation => ({
  kind: 'many-to-many',
  target: () => resource('instance_group'),
  table: `${type}_instance_groups`,
  near: `${type}_id`,
  far: 'instance_group_id',
  ordered: true,
});

/** The `instance_group` relation of a run: the default group, which executes every job. */
export const groupOfRun: Relation = {
  kind: 'computed',
  target: () => resource('instance_group'),
  condition: (_run, far) => sql`${ident(far, 'name')} = ${DEFAULT_GROUP}`,
  single: true,
};

/**
 * Returns the sublist `instance_groups/` of an object: users who can change the object attach
 * groups that they can use.
 */
export const attachInstanceGroups = (): ((
  definition: ResourceDefinition,
  name: string,
) => SubListSpec) => attached('instance_groups', { childNeeds: 'use', check: assertOwned });

/**
 * Returns the sublist `instances/` of a group: superusers add machines; the default group contains
 * all machines.
 */
export const machinesOfGroup =
  (): ((definition: ResourceDefinition, name: string) => SubListSpec) => (definition, name) => {
    const spec = attached('instances', {
      needs: 'instances',
      check: async ({ parent }) => {
        if (parent.name !== DEFAULT_GROUP) return;
        throw new BadRequest('Every machine is in the default instance group.');
      },
    })(definition, name);
    const scope: SubListSpec['scope'] = (parent, context) =>
      parent.name === DEFAULT_GROUP ? TRUE : spec.scope(parent, context);
    return { ...spec, scope };
  };

/**
 * Requires a superuser for an object without an organization, because no organization administrator
 * is responsible for its capacity.
 */
async function assertOwned({ actor, parent, parentDefinition }: LinkContext, _group: Row) {
  const isOwned = parentDefinition.type === 'organization' || parent.organization_id !== null;
  if (!isOwned && !actor.isSuperuser) throw new Forbidden();
}

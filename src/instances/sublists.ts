import { BadRequest, Forbidden } from '../common/errors/errors.js';
import type { Relation, ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import type { LinkContext, SubListSpec } from '../common/rest/sublist.js';
import { attached } from '../common/rest/sublist-kinds.js';
import { ident, sql, TRUE } from '../database/sql.js';
import { DEFAULT_GROUP } from './instance-groups.repository.js';

/** The `instance_groups` relation of a resource: what its jobs prefer to run on, best first. */
export const preferredGroups = (type: string): Relation => ({
  kind: 'many-to-many',
  target: () => resource('instance_group'),
  table: `${type}_instance_groups`,
  near: `${type}_id`,
  far: 'instance_group_id',
  ordered: true,
});

/** The `instance_group` of a run: the default group runs every job. */
export const groupOfRun: Relation = {
  kind: 'computed',
  target: () => resource('instance_group'),
  condition: (_run, far) => sql`${ident(far, 'name')} = ${DEFAULT_GROUP}`,
  single: true,
};

/** `instance_groups/` of an object: whoever may change the object attaches groups he may use. */
export const attachInstanceGroups = (): ((
  definition: ResourceDefinition,
  name: string,
) => SubListSpec) => attached('instance_groups', { childNeeds: 'use', check: assertOwned });

/** `instances/` of a group: superusers put machines into it; in the default group all are. */
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

/** Without an organization nobody but a superuser answers for the capacity. */
async function assertOwned({ actor, parent, parentDefinition }: LinkContext, _group: Row) {
  const isOwned = parentDefinition.type === 'organization' || parent.organization_id !== null;
  if (!isOwned && !actor.isSuperuser) throw new Forbidden();
}

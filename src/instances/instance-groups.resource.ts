import { hasRole } from '../access/predicates.js';
import { everyone, superusersOnly } from '../common/access.js';
import { defineResource, manyToMany } from '../common/resource/define-resource.js';
import { InstanceGroupHooks } from './instance-group.hooks.js';
import { DEFAULT_GROUP } from './instance-groups.repository.js';
import { InstanceGroupExtension } from './instance.extensions.js';
import { InstanceGroup } from './instance-group.entity.js';

export const instanceGroups = defineResource({
  path: 'instance_groups',
  type: 'instance_group',
  entity: InstanceGroup,
  naturalKey: ['name'],
  usable: { delete: (row) => row.name !== DEFAULT_GROUP },
  hooks: InstanceGroupHooks,
  summary: ['id', 'name', 'is_container_group'],
  unique: { instance_groups_name_key: { name: 'Instance group with this Name already exists.' } },
  pages: {
    list: { about: 'Groups of machines on which runs are placed.' },
    columns: ['name', 'policy_instance_list', 'max_concurrent_jobs', 'max_forks', 'modified'],
  },
  roles: [
    { field: 'admin_role' },
    { field: 'use_role', impliedBy: ['admin_role'] },
    { field: 'read_role', impliedBy: ['use_role', 'admin_role'] },
  ],
  policy: {
    // Readable by all users: all runs use the default group, and clients look it up by name before
    // a launch.
    read: everyone,
    add: () => superusersOnly,
    change: hasRole('instance_group', 'admin_role'),
    delete: superusersOnly,
    actions: {
      use: hasRole('instance_group', 'use_role'),
      // Machines are managed by operators of the installation.
      instances: superusersOnly,
    },
  },
  relations: {
    instances: manyToMany('instance', {
      table: 'instance_group_instances',
      sourceColumn: 'instance_group_id',
    }),
  },
  extension: InstanceGroupExtension,
});

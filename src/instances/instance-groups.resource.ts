import { hasRole } from '../access/predicates.js';
import { everyone } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { instanceGroupExtension } from './instance-group-extension.js';
import { InstanceGroupSchema } from './instance-group.schema.js';

export const instanceGroups = defineResource({
  path: 'instance_groups',
  type: 'instance_group',
  schema: InstanceGroupSchema,
  table: 'instance_groups',
  naturalKey: ['name'],
  summary: ['id', 'name'],
  unique: [
    {
      name: 'instance_groups_name_key',
      columns: ['name'],
      field: 'name',
      message: 'Instance group with this Name already exists.',
    },
  ],
  roles: [
    { field: 'admin_role' },
    { field: 'use_role', impliedBy: ['admin_role'] },
    { field: 'read_role', impliedBy: ['use_role', 'admin_role'] },
  ],
  policy: {
    // Everybody runs on it; clients look it up by name before they launch.
    read: everyone,
    change: hasRole('instance_group', 'admin_role'),
    actions: { use: hasRole('instance_group', 'use_role') },
  },
  extend: instanceGroupExtension,
});

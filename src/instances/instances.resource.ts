import * as json from '../common/fields/json-schema.js';
import { superusersOnly } from '../common/access.js';
import { defineResource, resource } from '../common/resource/define-resource.js';
import { ident, sql } from '../database/sql.js';
import { InstanceExtension } from './instance.extensions.js';
import { InstanceHooks } from './instance.hooks.js';
import { groupsOf } from './instance-groups.repository.js';
import { instanceHostnameOf } from './instances.repository.js';
import { Instance } from './instance.entity.js';

export const instances = defineResource({
  path: 'instances',
  type: 'instance',
  entity: Instance,
  orderBy: ['id'],
  naturalKey: ['hostname'],
  hooks: InstanceHooks,
  summary: ['id', 'hostname'],
  capabilities: { edit: 'change' },
  unique: { instances_hostname_key: { hostname: 'Instance with this Hostname already exists.' } },
  // Names of machines are visible to operators only: superusers and auditors.
  policy: { read: superusersOnly, change: superusersOnly },
  pages: {
    list: { about: 'Machines whose workers execute runs.' },
    columns: ['hostname', 'node_state', 'enabled', 'cpu_capacity', 'mem_capacity', 'last_seen'],
  },
  aliases: { rampart_groups: 'instance_groups' },
  relations: {
    instance_groups: {
      kind: 'computed',
      target: () => resource('instance_group'),
      condition: (id, alias) => sql`${ident(alias, 'id')} IN (${groupsOf(id)})`,
    },
    jobs: {
      kind: 'computed',
      target: () => resource('unified_job'),
      condition: (id, alias) => sql`
        ${ident(alias, 'execution_node')} = ${instanceHostnameOf(id)}
        AND ${ident(alias, 'execution_node')} <> ''`,
    },
  },
  extension: InstanceExtension,
  shows: { fields: { cpu: json.STRING, capacity_adjustment: json.STRING } },
});

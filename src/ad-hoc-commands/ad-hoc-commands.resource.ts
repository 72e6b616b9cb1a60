import { hasRoleOn, holdsAny } from '../access/predicates.js';
import { anyOf, everyone, isActor } from '../common/access.js';
import {
  defineResource,
  emptyRelation,
  hasMany,
  manyToMany,
} from '../common/resource/define-resource.js';
import { runsOrganization } from '../runs/jobs.resource.js';
import { RUN_TOTALS } from '../runs/run-total.entity.js';
import { AdHocCommandExtension, AD_HOC_COMMAND_SHOWS } from './ad-hoc-command.extension.js';
import { AdHocCommandHooks } from './ad-hoc-command.hooks.js';
import { AdHocCommand } from './ad-hoc-command.entity.js';

export const adHocCommands = defineResource({
  path: 'ad_hoc_commands',
  type: 'ad_hoc_command',
  entity: AdHocCommand,
  discriminator: 'ad_hoc_command',
  orderBy: ['id'],
  pages: { linkedOrder: '-id' },
  auditParent: { field: 'inventory', type: 'inventory' },
  hooks: AdHocCommandHooks,
  summary: ['id', 'name', 'status', 'failed', 'elapsed', 'type', 'canceled_on'],
  capabilities: { delete: 'delete', start: 'start' },
  usable: { start: ({ inventory_id: inventory }) => inventory !== null },
  policy: {
    read: anyOf(hasRoleOn('inventory_id', 'inventory', 'read_role'), runsOrganization),
    // The references check the permissions to run commands on the inventory and to use the
    // credential.
    add: () => everyone,
    mayAdd: (actor) => holdsAny('inventory', ['adhoc_role'], actor),
    delete: hasRoleOn('organization_id', 'organization', 'admin_role'),
    actions: {
      start: hasRoleOn('inventory_id', 'inventory', 'adhoc_role'),
      cancel: anyOf(isActor('created_by_id'), hasRoleOn('inventory_id', 'inventory', 'admin_role')),
    },
  },
  aliases: { credentials: 'credential' },
  relations: {
    unified_job_template: emptyRelation('unified_job_template'),
    hosts: manyToMany('host', { table: 'job_events', sourceColumn: 'job_id' }),
    events: hasMany('ad_hoc_command_event', 'job'),
    notifications: hasMany('notification', 'unified_job'),
  },
  counter: RUN_TOTALS,
  extension: AdHocCommandExtension,
  shows: AD_HOC_COMMAND_SHOWS,
});

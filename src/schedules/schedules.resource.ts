import { hasRoleOn, holdsAny, refersTo } from '../access/predicates.js';
import { allOf, anyOf, everyone, isActor, permit, type Predicate } from '../common/access.js';
import {
  defineResource,
  hasMany,
  manyToMany,
  resource,
} from '../common/resource/define-resource.js';
import { or } from '../database/sql.js';
import { labeled } from '../labels/label-links.js';
import { SAVED_DESTINATIONS, SAVED_OPTIONS } from '../prompts/prompt-columns.js';
import { ScheduleHooks } from './schedule.hooks.js';
import { Schedule } from './schedule.entity.js';
import { ScheduleExtension, SCHEDULE_SHOWS } from './schedule.extension.js';

/** Roles that launch each kind of template; all kinds share one id sequence. */
const LAUNCH_ROLES = [
  ['job_template', 'execute_role'],
  ['workflow_job_template', 'execute_role'],
  ['project', 'update_role'],
] as const;

const onTemplate = (roles: readonly (readonly [type: string, role: string])[]): Predicate =>
  anyOf(...roles.map(([type, role]) => hasRoleOn('unified_job_template_id', type, role)));

/**
 * Returns the predicate for inventory sources, which have no roles of their own: the inventory's
 * roles apply.
 */
const onSource =
  (action: string): Predicate =>
  (alias, actor) => {
    const { policy } = resource('inventory_source');
    const rule = refersTo('unified_job_template_id', 'inventory_source', (source, reader) =>
      permit(policy, action, source, reader),
    );
    return rule(alias, actor);
  };

const kinds = LAUNCH_ROLES.map(([type]) => type);
const ofKinds = (role: string): Predicate => onTemplate(kinds.map((type) => [type, role] as const));
const mayLaunch = anyOf(onTemplate(LAUNCH_ROLES), onSource('update'));
const mayAdminister = anyOf(ofKinds('admin_role'), onSource('change'));

export const schedules = defineResource({
  path: 'schedules',
  type: 'schedule',
  entity: Schedule,
  hooks: ScheduleHooks,
  summary: ['id', 'name', 'description', 'next_run'],
  unique: {
    schedules_template_name_key:
      'Schedule with this (unified_job_template, name) combination already exists.',
  },
  pages: {
    list: { about: 'Times at which templates launch automatically.' },
    within: 'unified_job_template',
    columns: ['name', 'unified_job_template', 'enabled', 'next_run', 'last_run'],
    sections: {
      When: ['rrule', 'enabled', 'timezone', 'next_run', 'dtstart', 'dtend', 'until', 'last_run'],
      Prompts: ['extra_data', ...SAVED_OPTIONS.map(({ name }) => name)],
    },
  },
  policy: {
    read: anyOf(ofKinds('read_role'), onSource('read')),
    // The reference checks the permission to launch.
    add: () => everyone,
    mayAdd: (actor) =>
      or(
        ...LAUNCH_ROLES.map(([type, role]) => holdsAny(type, [role], actor)),
        holdsAny('inventory', ['update_role'], actor),
      ),
    change: anyOf(mayAdminister, allOf(isActor('created_by_id'), mayLaunch)),
    delete: anyOf(mayAdminister, isActor('created_by_id')),
  },
  relations: {
    credentials: manyToMany('credential', {
      table: 'schedule_credentials',
      sourceColumn: 'schedule_id',
    }),
    labels: labeled('schedule'),
    instance_groups: manyToMany('instance_group', {
      table: 'schedule_instance_groups',
      sourceColumn: 'schedule_id',
      ordered: true,
    }),
    jobs: hasMany('unified_job', 'schedule'),
  },
  destinations: [{ decidedBy: SAVED_DESTINATIONS, protects: ['credentials'] }],
  extension: ScheduleExtension,
  shows: SCHEDULE_SHOWS,
});

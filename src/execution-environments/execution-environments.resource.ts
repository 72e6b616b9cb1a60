import { hasRoleOn, holdsAny } from '../access/predicates.js';
import { allOf, anyOf, everyone, superusersOnly, type Predicate } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { ident, sql } from '../database/sql.js';
import { ExecutionEnvironmentHooks } from './execution-environment.hooks.js';
import { ExecutionEnvironment } from './execution-environment.entity.js';

const isGlobal: Predicate = (alias) => sql`${ident(alias, 'organization_id')} IS NULL`;
const readable = anyOf(isGlobal, hasRoleOn('organization_id', 'organization', 'read_role'));
const administered = hasRoleOn(
  'organization_id',
  'organization',
  'execution_environment_admin_role',
);

export const executionEnvironments = defineResource({
  path: 'execution_environments',
  type: 'execution_environment',
  entity: ExecutionEnvironment,
  orderBy: ['-id'],
  hooks: ExecutionEnvironmentHooks,
  naturalKey: ['name'],
  summary: ['id', 'name', 'description', 'image'],
  capabilities: { edit: 'change', delete: 'delete', copy: 'copy' },
  unique: {
    execution_environments_name_key: {
      name: 'Execution environment with this Name already exists.',
    },
  },
  pages: {
    list: { about: 'Container images in which runs are executed.' },
    columns: ['name', 'image', 'organization', 'modified'],
  },
  policy: {
    read: readable,
    // For an organization, the reference requires its `execution_environment_admin_role`.
    add: ({ organization }) => (typeof organization === 'number' ? everyone : superusersOnly),
    mayAdd: (actor) => holdsAny('organization', ['execution_environment_admin_role'], actor),
    change: administered,
    delete: administered,
    actions: { copy: allOf(readable, administered) },
  },
});

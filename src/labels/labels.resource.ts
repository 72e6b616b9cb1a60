import { hasRoleOn, heldObjects, holdsAny } from '../access/predicates.js';
import { anyOf, everyone, type Predicate } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { ident, sql } from '../database/sql.js';
import { LabelSchema } from './label.schema.js';

/** The label stands on an object of `type` that the caller may read. */
const isOn =
  (table: string, column: string, type: string): Predicate =>
  (alias, actor) => sql`${ident(alias, 'id')} IN (
    SELECT lab.label_id FROM ${ident(table)} lab
    WHERE lab.${ident(column)} IN (${heldObjects(type, 'read_role', actor)}))`;

export const labels = defineResource({
  path: 'labels',
  type: 'label',
  schema: LabelSchema,
  table: 'labels',
  orderBy: ['organization', 'name'],
  summary: ['id', 'name'],
  capabilities: {},
  naturalKey: ['name', 'organization'],
  unique: [
    {
      name: 'labels_organization_name_key',
      columns: ['organization_id', 'name'],
      field: '__all__',
      message: 'Label with this Name and Organization already exists.',
    },
  ],
  policy: {
    read: anyOf(
      hasRoleOn('organization_id', 'organization', 'read_role'),
      isOn('job_template_labels', 'job_template_id', 'job_template'),
      isOn('workflow_job_template_labels', 'workflow_job_template_id', 'workflow_job_template'),
      isOn('inventory_labels', 'inventory_id', 'inventory'),
    ),
    // The reference needs membership of the organization.
    add: () => everyone,
    mayAdd: (actor) => holdsAny('organization', ['member_role'], actor),
    change: hasRoleOn('organization_id', 'organization', 'admin_role'),
  },
});

import { hasRoleOn, holdsAny } from '../access/predicates.js';
import { heldObjects } from '../access/role-ancestors.repository.js';
import { anyOf, everyone, type Predicate } from '../common/access.js';
import { defineResource, resource } from '../common/resource/define-resource.js';
import { selectLinks } from '../common/resource/select-rows.js';
import { ident, sql } from '../database/sql.js';
import { labelLinkOf } from './label-links.js';
import { Label } from './label.entity.js';

/** Permits labels on an object of `type` that the caller can read. */
const isOnReadable =
  (type: string): Predicate =>
  (alias, actor) => sql`${ident(alias, 'id')} IN (
    SELECT lnk.target_id FROM (${selectLinks(labelLinkOf(resource(type)))}) lnk
    WHERE lnk.source_id IN (${heldObjects(type, 'read_role', actor)}))`;

export const labels = defineResource({
  path: 'labels',
  type: 'label',
  entity: Label,
  orderBy: ['organization', 'name'],
  summary: ['id', 'name'],
  capabilities: {},
  naturalKey: ['name', 'organization'],
  unique: { labels_organization_name_key: 'Label with this Name and Organization already exists.' },
  policy: {
    read: anyOf(
      hasRoleOn('organization_id', 'organization', 'read_role'),
      isOnReadable('job_template'),
      isOnReadable('workflow_job_template'),
      isOnReadable('inventory'),
    ),
    // Permission is checked through the reference, which requires membership of the organization.
    add: () => everyone,
    mayAdd: (actor) => holdsAny('organization', ['member_role'], actor),
    change: hasRoleOn('organization_id', 'organization', 'admin_role'),
  },
});

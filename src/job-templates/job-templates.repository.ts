import { Injectable } from '@nestjs/common';
import { copyPreferredGroups, preferredGroupsOf } from '../instances/instance-groups.repository.js';
import { permit, type Actor } from '../common/access.js';
import { resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { allCredentials } from '../credentials/credentials.repository.js';
import { selectCredentialTypes } from '../credentials/credential-types.repository.js';
import type { CombinedCredential } from '../credentials/types/combination.js';
import { sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { hasInvalidSignature } from '../runs/runs.repository.js';
import { projectSources } from '../templates/templates.repository.js';
import type { JobTemplate } from './job-template.entity.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';

/** A credential in the representation of its template. */
export interface AttachedCredential {
  template_id: number;
  id: number;
  name: string;
  description: string;
  kind: string;
  cloud: boolean;
  may_read: boolean;
}

/** The fields of a project that its job templates depend on. */
export interface ProjectOfTemplate {
  id: number;
  organization_id: number | null;
  scm_type: string;
  scm_revision: string;
  allow_override: boolean;
  local_path: string;
  playbook_files: readonly string[];
}

/** A job template for a launch, with its project and the ids of attached objects. */
export interface LaunchableJobTemplate extends RowOf<JobTemplate> {
  may_start: boolean;
  credential_ids: number[];
  label_ids: number[];
  group_ids: number[];
}

/**
 * Returns a query for the credentials of templates, in the order of attachment, with the caller's
 * read permission.
 */
export const shownCredentialsOf = (ids: readonly number[], actor: Actor): Sql => sql`
  SELECT lnk.job_template_id AS template_id, c.id, c.name, c.description,
    coalesce(ct.namespace, '') AS kind, ct.kind = 'cloud' AS cloud,
    (${permit(resource('credential').policy, 'read', 'c', actor)}) AS may_read
  FROM job_template_credentials lnk
  JOIN (${allCredentials()}) c ON c.id = lnk.credential_id
  JOIN (${selectCredentialTypes()}) ct ON ct.id = c.credential_type_id
  WHERE lnk.job_template_id = ANY(${ids}::int[])
  ORDER BY lnk.id`;

@Injectable()
export class JobTemplatesRepository extends TableRepository<Row> {
  constructor(@InjectRepository(UnifiedTemplate) repository: Repository<UnifiedTemplate>) {
    super(repository);
  }

  /** @param actor caller; null: no permission check */
  launchable(ids: readonly number[], actor: Actor | null): Promise<LaunchableJobTemplate[]> {
    return this.database.preparedRows<LaunchableJobTemplate>(sql`
      SELECT t.*, (${permitOrAny('job_template', 'start', 't', actor)}) AS may_start,
        p.scm_type AS project_scm_type, p.status AS project_status,
        p.scm_revision AS project_revision, p.allow_override AS project_allow_override,
        p.scm_branch AS project_branch, p.scm_update_on_launch AS project_update_on_launch,
        (${hasInvalidSignature(sql`p.last_job_id`)}) AS project_has_invalid_signature,
        ARRAY(SELECT credential_id FROM job_template_credentials
          WHERE job_template_id = t.id ORDER BY id) AS credential_ids,
        ARRAY(SELECT label_id FROM job_template_labels
          WHERE job_template_id = t.id ORDER BY id) AS label_ids,
        ARRAY(SELECT id FROM (${preferredGroupsOf('job_template', sql`t.id`)}) preferred
          ORDER BY position) AS group_ids
      FROM unified_job_templates t
      LEFT JOIN (${projectSources()}) p ON p.id = t.project_id
      WHERE t.id = ANY(${ids}::int[]) AND t.type = 'job_template'`);
  }

  /**
   * Returns the number of slices of a launch; undefined if the template was deleted.
   *
   * @param prompted number of slices in the launch request; null for the number of the template
   * @param hosts number of hosts of the inventory; null if it was deleted, or takes too long to count
   */
  async sliceCount(
    id: number,
    prompted: number | null,
    hosts: number | null,
  ): Promise<number | null | undefined> {
    const row = await this.database.row<{ slices: number | null }>(sql`
      SELECT least(coalesce(${prompted}::int, tpl.job_slice_count), ${hosts}::int) AS slices
      FROM unified_job_templates tpl WHERE tpl.id = ${id}::int`);
    return row?.slices;
  }

  /** Returns a project. Requests that change the project wait until the transaction ends. */
  project(id: number): Promise<ProjectOfTemplate | undefined> {
    return this.database.row<ProjectOfTemplate>(sql`
      SELECT id, organization_id, scm_type, scm_revision, allow_override, playbook_files,
        local_path
      FROM unified_job_templates WHERE id = ${id} AND type = 'project' FOR KEY SHARE`);
  }

  credentialsOf(id: number): Promise<number[]> {
    return this.database.ids(sql`
      SELECT credential_id AS id FROM job_template_credentials WHERE job_template_id = ${id}`);
  }

  /** Returns a credential, and all credentials that are attached to a template. */
  withAttached(
    id: number,
    credential: number,
  ): Promise<(CombinedCredential & { id: number; is_attached: boolean })[]> {
    return this.database.rows(sql`
      SELECT c.id, c.name, c.inputs, to_json(ct) AS type, lnk.id IS NOT NULL AS is_attached
      FROM (${allCredentials()}) c JOIN (${selectCredentialTypes()}) ct ON ct.id = c.credential_type_id
      LEFT JOIN job_template_credentials lnk
        ON lnk.credential_id = c.id AND lnk.job_template_id = ${id}
      WHERE c.id = ${credential} OR lnk.id IS NOT NULL`);
  }

  /** Copies the credentials, labels and usable instance groups of a template to its copy. */
  async copyAttachments(original: number, copy: number, actor: Actor): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO job_template_credentials (job_template_id, credential_id)
      SELECT ${copy}, credential_id FROM job_template_credentials
      WHERE job_template_id = ${original} ORDER BY id`);
    await this.database.execute(sql`
      INSERT INTO job_template_labels (job_template_id, label_id)
      SELECT ${copy}, label_id FROM job_template_labels WHERE job_template_id = ${original}`);
    await this.database.execute(copyPreferredGroups('job_template', { original, copy }, actor));
  }
}

/** Returns a query for the ids of job templates' inventories. */
export const inventoriesOfTemplates = (ids: readonly number[]): Sql => sql`
  SELECT own.inventory_id FROM unified_job_templates own
  WHERE own.id = ANY(${ids}::int[]) AND own.type = 'job_template' AND own.inventory_id IS NOT NULL`;

/** Returns a query for the ids of job templates' credentials. */
export const credentialsOfTemplates = (ids: readonly number[]): Sql => sql`
  SELECT own.credential_id FROM job_template_credentials own
  WHERE own.job_template_id = ANY(${ids}::int[])`;

import { Injectable } from '@nestjs/common';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import type { Project } from './project.entity.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';

/** Class of the advisory locks on names of project folders, unique in this database. */
const PATH_LOCK = 7405;

/** Projects, with queries for the job templates that use them. */
@Injectable()
export class ProjectsRepository extends TableRepository<RowOf<Project>> {
  constructor(@InjectRepository(UnifiedTemplate) repository: Repository<UnifiedTemplate>) {
    super(repository);
  }

  /**
   * Stores the result of a sync: the commit, and the paths of playbooks and inventory files. Stores nothing if
   * the project has another source meanwhile.
   */
  async storeSync(
    id: number,
    { scm_type, scm_url, scm_branch }: Pick<RowOf<Project>, 'scm_type' | 'scm_url' | 'scm_branch'>,
    synced: Pick<RowOf<Project>, 'scm_revision' | 'playbook_files' | 'inventory_files'>,
  ): Promise<void> {
    await this.update({ id, scm_type, scm_url, scm_branch }, synced);
  }

  /** Returns true if another project uses a folder; no other project can take it before the transaction ends. */
  async isPathTaken(id: number, path: string): Promise<boolean> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${PATH_LOCK}, hashtext(${path}))`);
    return this.database.exists(sql`
      SELECT 1 FROM unified_job_templates
      WHERE type = 'project' AND local_path = ${path} AND id <> ${id}`);
  }

  /** Returns the ids of a project's job templates that set a branch or prompt for a branch. */
  overridingTemplates(id: number): Promise<number[]> {
    return this.database.ids(sql`
      SELECT id FROM unified_job_templates
      WHERE type = 'job_template' AND project_id = ${id}
        AND (scm_branch <> '' OR ask_scm_branch_on_launch) ORDER BY id`);
  }

  /** Returns the ids of a project's job templates. */
  templatesOf(id: number): Promise<number[]> {
    return this.database.ids(sql`
      SELECT id FROM unified_job_templates WHERE type = 'job_template' AND project_id = ${id}`);
  }

  /**
   * Moves the job templates of a project to an organization.
   *
   * @returns the changed rows
   */
  moveTemplates(id: number, organization: unknown): Promise<Row[]> {
    return this.database.rows<Row>(sql`
      UPDATE unified_job_templates SET organization_id = ${organization}
      WHERE type = 'job_template' AND project_id = ${id} RETURNING *`);
  }
}

import { Injectable } from '@nestjs/common';
import { RoleStore, type Actor } from '../common/access.js';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/dependents.js';
import {
  valueAfter,
  type Prepared,
  type ResourceHooks,
  type ValuesOf,
} from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { GitReach } from '../code-hosts/git-reach.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { Database } from '../database/database.js';
import { sqlState, UNIQUE_VIOLATION } from '../database/sql-state.js';
import { startedBy } from '../runs/launcher.js';
import { WebhookFields } from '../templates/webhook-fields.service.js';
import { projectErrors, type ProjectFacts } from './project-checks.js';
import { fetchedFolder, ProjectFolders } from './project-folders.service.js';
import { ProjectUpdateLauncher } from './project-update-launcher.service.js';
import { ProjectUpdatesRepository } from './project-updates.repository.js';
import { ProjectsRepository } from './projects.repository.js';
import type { Project } from './project.entity.js';

/** Columns of a project's source. After a change, the stored files of the project are outdated. */
const SOURCE_COLUMNS = [
  'scm_type',
  'scm_url',
  'scm_branch',
  'scm_refspec',
  'credential_id',
  'signature_validation_credential_id',
] as const;

/** Fields whose change makes the stored revision that of another source. */
const REVISION_FIELDS = ['scm_type', 'scm_url', 'scm_branch'] as const;

@Injectable()
export class ProjectHooks implements ResourceHooks<Project> {
  constructor(
    private readonly database: Database,
    private readonly projects: ProjectsRepository,
    private readonly updates: ProjectUpdatesRepository,
    private readonly credentials: CredentialsRepository,
    private readonly runs: ActiveRunsQuery,
    private readonly references: ReferencesService,
    private readonly roles: RoleStore,
    private readonly folders: ProjectFolders,
    private readonly launcher: ProjectUpdateLauncher,
    private readonly webhooks: WebhookFields,
    private readonly reach: GitReach,
  ) {}

  async prepareCreate(sent: ValuesOf<Project>): Promise<Prepared<Project>> {
    // The folder of a fetched project is named after its id, which is not assigned yet.
    const folder = sent.scm_type === '' ? {} : { local_path: '' };
    const values = { ...sent, ...folder };
    await this.check(values, {});
    if (values.scm_type !== '') return { values: folder };
    return { columns: { status: await this.manualStatus(String(values.local_path ?? '')) } };
  }

  async created(row: RowOf<Project>, _values: ValuesOf<Project>, actor: Actor): Promise<void> {
    if (row.local_path === '') {
      const path = fetchedFolder(row.id, String(row.name));
      await this.projects.update({ id: row.id }, { local_path: path });
    }
    await this.webhooks.created(row);
    await this.sync(row, actor);
  }

  async prepareUpdate(
    row: RowOf<Project>,
    values: ValuesOf<Project>,
    actor: Actor,
  ): Promise<Prepared<Project>> {
    await this.check(values, row);
    if ('organization' in values) await this.assertMayMove(row, values.organization, actor);
    const type = values.scm_type ?? row.scm_type;
    const becomesFetched = 'scm_type' in values && type !== '';
    // No job runs files of the former source if the update of the new one is canceled.
    const isMoved = REVISION_FIELDS.some((name) => name in values);
    const columns = {
      ...this.webhooks.keyAfter(row, values),
      ...(isMoved ? { scm_revision: '' } : {}),
    };
    const folder = fetchedFolder(row.id, row.name);
    if (becomesFetched) {
      // The files of a manual project belong to the user: a checkout must not overwrite them, not even in a
      // folder that the server has named. A fetched project keeps its folder, also after a change of its name.
      const path = row.scm_type === '' ? `${folder}_${Date.now().toString(36)}` : row.local_path;
      return { values: { local_path: undefined }, columns: { local_path: path, ...columns } };
    }
    const isManualChanged = 'scm_type' in values || 'local_path' in values;
    if (type !== '' || !isManualChanged) return { columns };
    const path = values.local_path === '' ? folder : values.local_path;
    const status = await this.manualStatus(path ?? row.local_path);
    return { values: { local_path: path }, columns: { status, ...columns } };
  }

  async updated(before: RowOf<Project>, after: RowOf<Project>, actor: Actor): Promise<void> {
    if (before.organization_id !== after.organization_id) await this.moveTemplates(after);
    if (SOURCE_COLUMNS.some((column) => before[column] !== after[column])) {
      await this.sync(after, actor);
    }
  }

  async prepareDelete(row: RowOf<Project>): Promise<void> {
    await assertNoActiveRuns(
      this.runs,
      ['project_id', 'source_project_id', 'unified_job_template_id'],
      [row.id],
    );
    await this.updates.removeOf(row.id);
    if (row.scm_type === '') return;
    const folder = String(row.local_path);
    this.database.afterCommit(() => void this.folders.remove(folder));
  }

  /** Starts an update of the project. Manual projects have no updates. */
  private async sync({ id }: RowOf<Project>, actor: Actor): Promise<void> {
    await this.launcher.launchPossible([{ templateId: id, ...startedBy(actor) }]);
  }

  private async manualStatus(localPath: string): Promise<'ok' | 'missing'> {
    return (await this.folders.exists(localPath)) ? 'ok' : 'missing';
  }

  /** @throws Invalid with the errors of all fields */
  private async check(values: ValuesOf<Project>, row: Partial<RowOf<Project>>): Promise<void> {
    const value = valueAfter(values, row);
    const id = row.id ?? 0;
    const facts: ProjectFacts = {
      value,
      changes: (...fields) => fields.some((field) => field in values),
      credentialKind: await this.credentialKind(value('credential')),
      signatureKind: await this.credentialKind(value('signature_validation_credential')),
      storedPath: row.local_path ?? null,
      isPathTaken: await this.isPathTaken(id, value('local_path')),
      overridingTemplates:
        'allow_override' in values ? await this.projects.overridingTemplates(id) : [],
    };
    const errors = {
      ...projectErrors(facts, this.reach),
      ...(await this.webhooks.errors(values, row)),
    };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
  }

  private async credentialKind(id: unknown): Promise<string | null> {
    if (typeof id !== 'number') return null;
    return (await this.credentials.typeOf(id))?.kind ?? null;
  }

  private async isPathTaken(id: number, localPath: unknown): Promise<boolean> {
    if (typeof localPath !== 'string' || localPath === '') return false;
    return this.projects.isPathTaken(id, localPath);
  }

  /**
   * Checks that the caller administers all templates of the project, which move with the project. Only a
   * superuser can remove the organization.
   */
  private async assertMayMove(
    row: RowOf<Project>,
    organization: unknown,
    actor: Actor,
  ): Promise<void> {
    if (organization === null && !actor.isSuperuser) throw new Forbidden();
    const ids = await this.projects.templatesOf(row.id);
    try {
      await this.references.assertAllowed(resource('job_template'), ids, 'change', actor);
    } catch (error) {
      throw error instanceof Forbidden
        ? Invalid.field(
            'organization',
            'Organization cannot be changed when in use by job templates.',
          )
        : error;
    }
  }

  private async moveTemplates({
    id,
    organization_id: organization,
  }: RowOf<Project>): Promise<void> {
    try {
      const rows = await this.projects.moveTemplates(id, organization);
      await this.roles.parentChanged(resource('job_template'), rows);
    } catch (error) {
      throw sqlState(error) === UNIQUE_VIOLATION
        ? Invalid.field('organization', TAKEN_NAME)
        : error;
    }
  }
}

const TAKEN_NAME = 'A job template of the project has the name of one in this organization.';

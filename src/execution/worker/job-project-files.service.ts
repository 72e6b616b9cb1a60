import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { existing, itemAt } from '../../common/invariants.js';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { isTransient } from '../../database/sql-state.js';
import { isFolderName, ProjectFolders } from '../../projects/project-folders.service.js';
import { ProjectUpdateLauncher } from '../../projects/project-update-launcher.service.js';
import { NO_PROJECT, previousTask } from '../../runs/run-explanations.js';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import { RunsRepository } from '../../runs/runs.repository.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { checkoutRevision, type CheckoutRequest } from '../runner/git-checkout.js';
import { objectsOf } from '../runner/git-repository.js';
import { ActiveRuns, stopIfEnded, type ActiveRun } from './active-runs.service.js';
import type { JobProject } from '../../runs/job-contexts.repository.js';
import { Leases } from './leases.service.js';
import { CannotStart, finalOutcome, outcomeOf } from './outcome.js';
import { ProjectContent } from '../project-updates/project-content.service.js';
import { ProjectSync } from '../project-updates/project-sync.service.js';

export interface ProjectFiles {
  dir: string;
  /** True if other runs also use `dir`, so that the run needs its own copy. */
  isShared: boolean;
  /** Commit; empty for a manual project. */
  revision: string;
  /** Folders outside `dir` that the files depend on; only read. */
  shared: readonly string[];
  /**
   * Folder with the required roles and collections, also part of `shared`; null if nothing is
   * required.
   */
  content: string | null;
}

export interface FilesRequest {
  project: JobProject;
  /** Branch, tag, ref or commit chosen for this job; empty: the project's last revision. */
  branch: string;
  /** Empty folder for a checkout. */
  destination: string;
  /** Timeout of the checkout, and of the installation of requirements; 0: no timeout. */
  timeoutSeconds: number;
  /**
   * Receives the id of the sync. If present, the project is always synced first; if absent, the
   * project is synced only if its folder or the commit of imported files is missing on this host, or the
   * project was never synced.
   */
  onSync?: (projectUpdateId: number) => Promise<void>;
  /** Receives the output of installing requirements that are not cached. */
  onOutput: (text: string) => void;
}

/**
 * Returns which submodule commits to use. A job uses the commits of the project's folder. A branch that the
 * job chose has no synced submodules.
 */
function submodulesOf(
  { scm_track_submodules: tracks }: JobProject,
  branch: string,
): 'recorded' | 'synced' | 'newest' {
  if (!tracks) return 'recorded';
  return branch === '' ? 'synced' : 'newest';
}

/**
 * Returns the path that exists in a folder with the revision of the project. Commits of git are fetched if
 * the folder lacks them; commits of imported files are loose objects of the folder.
 */
const proofOf = ({ scm_type: type, scm_revision: revision }: JobProject): string =>
  type === 'git' ? '.git' : join('.git', 'objects', revision.slice(0, 2), revision.slice(2));

/**
 * Provides the files of a job's project at the right revision
 * (docs/contract/runs.md#project-of-a-run).
 */
@Injectable()
export class JobProjectFiles {
  constructor(
    private readonly database: Database,
    private readonly updates: ProjectUpdateLauncher,
    private readonly runs: RunsRepository,
    private readonly runLeases: RunLeasesRepository,
    private readonly folders: ProjectFolders,
    private readonly sync: ProjectSync,
    private readonly leases: Leases,
    private readonly active: ActiveRuns,
    private readonly sandbox: SandboxService,
    private readonly content: ProjectContent,
    private readonly settings: Settings,
  ) {}

  /**
   * @throws CannotStart if the project cannot be used or the sync that the job needs did not succeed,
   *   RunEnded if the run must end, GitError and GitSourceError if the revision cannot be fetched,
   *   ContentError if its requirements cannot be installed
   */
  async provide(run: ActiveRun, request: FilesRequest): Promise<ProjectFiles> {
    const { project, destination, timeoutSeconds } = request;
    if (!isFolderName(project.local_path)) throw new CannotStart(NO_PROJECT);
    const folder = this.folders.path(project.local_path);
    if (project.scm_type === '') {
      return { dir: folder, isShared: true, revision: '', shared: [], content: null };
    }
    const synced = await this.ensureFolder(run, request, folder);
    // A job can use another branch only if the project allows it.
    const branch = project.allow_override ? request.branch : '';
    const checkoutRequest: CheckoutRequest = {
      repository: folder,
      revision: branch || synced,
      // Commits of imported files are in the project's folder only.
      ...(project.scm_type === 'git' ? { source: await this.sync.source(run, project) } : {}),
      ...(await this.sync.signedFiles(run, project)),
      submodules: submodulesOf(project, branch),
      destination,
      sandbox: this.sandbox,
      timeoutSeconds,
      maxFolderBytes: this.settings.JOB_DISK_BYTES,
      signal: run.signal,
    };
    const checkout = () => checkoutRevision(checkoutRequest);
    // A sync that first deletes the folder must not run during the checkout.
    const { revision } = await (project.scm_delete_on_update
      ? this.sync.withFolderLock(project.id, run.signal, 'shared', checkout)
      : checkout());
    // Content of the project's branch is cached if the project update installed it on this host. Content of
    // another branch is installed now.
    const content = await this.content.provide({
      projectId: project.id,
      projectDir: destination,
      revision,
      organizationId: project.organization_id,
      lookups: run.lookups,
      isolation: () => Promise.resolve(run.isolation),
      deadline: timeoutSeconds > 0 ? performance.now() + timeoutSeconds * 1000 : undefined,
      signal: run.signal,
      onOutput: request.onOutput,
    });
    const shared = [await objectsOf(folder), ...(content === null ? [] : [content])];
    return { dir: destination, isShared: false, revision, shared, content };
  }

  /** @returns revision of the project's folder, which is synced on this host if the folder lacks it */
  private async ensureFolder(
    run: ActiveRun,
    { project, onSync }: FilesRequest,
    folder: string,
  ): Promise<string> {
    if (onSync) return this.syncForJob(run, project, onSync);
    const exists = await access(join(folder, proofOf(project))).then(
      () => true,
      () => false,
    );
    if (exists && project.scm_revision !== '') return project.scm_revision;
    return this.syncForJob(run, project, (id) => this.runLeases.storeProjectUpdate(run, id));
  }

  /**
   * Runs a sync as part of a job (`launch_type` sync), on this host and under its own lease.
   */
  private async syncForJob(
    job: ActiveRun,
    project: JobProject,
    onSync: (projectUpdateId: number) => Promise<void>,
  ): Promise<string> {
    stopIfEnded(job);
    const update = await this.startUpdate(project, onSync);
    const run = this.active.add(update.id, update.attempt);
    // The sync installs content for the job, so it uses the programs of the job.
    run.isolation = job.isolation;
    run.lookups = job.lookups;
    const endUpdate = (): void => run.end(job.reason ?? 'cancel');
    job.signal.addEventListener('abort', endUpdate, { once: true });
    if (job.signal.aborted) endUpdate();
    try {
      let failure: unknown;
      const ended = await this.sync.run(run).catch((error: unknown) => {
        failure = error;
        return outcomeOf(error);
      });
      const outcome = finalOutcome(run, ended);
      await this.leases.finish(run, outcome);
      if (outcome.status === 'successful') return String(outcome.fields?.['scm_revision']);
      stopIfEnded(job);
      // The job starts again after an outage of the database, with another sync.
      if (isTransient(failure)) throw failure;
      const named = { type: 'project_update', name: update.name, id: update.id };
      throw outcome.status === 'canceled'
        ? new CannotStart(previousTask('Canceled', named), 'canceled')
        : new CannotStart(previousTask('Failed', named));
    } finally {
      job.signal.removeEventListener('abort', endUpdate);
      this.active.remove(run);
    }
  }

  /** Creates and starts a sync in one transaction, because no other worker would start it. */
  private async startUpdate(
    project: JobProject,
    onSync: (projectUpdateId: number) => Promise<void>,
  ): Promise<{ id: number; name: string; attempt: number }> {
    return this.database.transaction(async () => {
      const request = { templateId: project.id, launchType: 'sync', createdBy: null } as const;
      const { id } = itemAt(await this.updates.launch([request], null), 0);
      await onSync(id);
      const attempt = existing(await this.leases.lease(id, 'new'), 'a new sync can start');
      return { id, name: await this.runs.nameOf(id), attempt };
    });
  }
}

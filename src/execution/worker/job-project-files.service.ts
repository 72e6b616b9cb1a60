import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { isFolderName, ProjectFolders } from '../../projects/project-folders.service.js';
import { ProjectUpdatesRepository } from '../../projects/project-updates.repository.js';
import { NO_PROJECT, previousTask } from '../../runs/run-explanations.js';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import { RunsRepository } from '../../runs/runs.repository.js';
import { Boundary } from '../boundary/boundary.service.js';
import { checkoutRevision } from '../runner/git-checkout.js';
import { objectsOf } from '../runner/git-repository.js';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import { ActiveRuns, type ActiveRun } from './active-runs.service.js';
import type { JobProject } from '../../runs/job-contexts.repository.js';
import { Leases } from './leases.service.js';
import { CannotStart, outcomeOf } from './outcome.js';
import { ProjectSync } from './project-sync.service.js';

/** The files a job runs from. */
export interface ProjectFiles {
  dir: string;
  /** Whether `dir` belongs to others too, so that the run needs a copy of its own. */
  isShared: boolean;
  /** Commit, empty for a manual project. */
  revision: string;
  /** Folders outside of `dir` without which it is not whole; only read. */
  shared: readonly string[];
}

/** What a job wants of its project. */
export interface FilesRequest {
  project: JobProject;
  /** Branch, tag, ref or commit chosen for this job; empty: the project's last revision. */
  branch: string;
  /** Empty folder for a checkout. */
  destination: string;
}

/**
 * Gives a job the files of its project at the right revision
 * (docs/contract/runs.md#project-of-a-run).
 */
@Injectable()
export class JobProjectFiles {
  constructor(
    private readonly database: Database,
    private readonly updates: ProjectUpdatesRepository,
    private readonly runs: RunsRepository,
    private readonly runLeases: RunLeasesRepository,
    private readonly transitions: RunTransitions,
    private readonly folders: ProjectFolders,
    private readonly sync: ProjectSync,
    private readonly leases: Leases,
    private readonly active: ActiveRuns,
    private readonly boundary: Boundary,
    private readonly settings: Settings,
  ) {}

  /**
   * @throws CannotStart when the sync the job needs did not succeed, GitError and GitSourceError
   *   when the revision cannot be had
   */
  async provide(run: ActiveRun, request: FilesRequest): Promise<ProjectFiles> {
    const { project, destination } = request;
    if (!isFolderName(project.local_path)) throw new CannotStart(NO_PROJECT);
    const folder = this.folders.path(project.local_path);
    if (project.scm_type === '') {
      return { dir: folder, isShared: true, revision: '', shared: [] };
    }
    const synced = await this.ensureFolder(run, project, folder);
    // A branch is only another one where the project lets it be chosen.
    const wanted = project.allow_override ? request.branch : '';
    const { revision } = await checkoutRevision({
      repository: folder,
      revision: wanted || synced,
      source: await this.sync.source(project),
      ...{ destination, fence: this.boundary },
      maxFolderBytes: this.settings.JOB_DISK_BYTES,
      signal: run.signal,
    });
    return {
      ...{ dir: destination, isShared: false, revision },
      shared: [await objectsOf(folder)],
    };
  }

  /** @returns the revision of the project's folder, which is synced here and now when it is missing */
  private async ensureFolder(run: ActiveRun, project: JobProject, folder: string): Promise<string> {
    const isThere = await access(join(folder, '.git')).then(
      () => true,
      () => false,
    );
    if (isThere && project.scm_revision !== '') return project.scm_revision;
    return this.syncInside(run, project);
  }

  /** A sync as part of a job (`launch_type` sync), on this host and under a lease of its own. */
  private async syncInside(job: ActiveRun, project: JobProject): Promise<string> {
    const update = await this.createUpdate(job, project);
    const run = await this.leases.take(update.id, 'new');
    if (!run) throw new Error(`The project update ${update.id} could not be started`);
    const follow = (): void => run.end(job.reason ?? 'cancel');
    job.signal.addEventListener('abort', follow, { once: true });
    try {
      const outcome = await this.sync.run(run).catch(outcomeOf);
      await this.leases.finish(run, outcome);
      if (outcome.status === 'successful') return String(outcome.fields?.['scm_revision']);
      const named = { type: 'project_update', name: update.name, id: update.id };
      throw new CannotStart(previousTask('Failed', named));
    } finally {
      job.signal.removeEventListener('abort', follow);
      this.active.remove(run);
    }
  }

  private async createUpdate(
    job: ActiveRun,
    project: JobProject,
  ): Promise<{ id: number; name: string }> {
    return this.database.transaction(async () => {
      const [row] = await this.updates.insertOf([project.id], {
        launchType: 'sync',
        status: 'new',
      });
      if (!row) throw new Error(`The project ${project.id} is gone`);
      await this.transitions.created([row]);
      await this.runLeases.noteUpdate(job, row.id);
      return { id: row.id, name: await this.runs.nameOf(row.id) };
    });
  }
}

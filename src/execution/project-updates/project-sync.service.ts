import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { GitReach } from '../../code-hosts/git-reach.js';
import { Settings } from '../../config/settings.js';
import { CredentialSecrets } from '../../credentials/credential-secrets.service.js';
import { textInput } from '../../credentials/types/inputs.js';
import { Database } from '../../database/database.js';
import { ProjectsRepository } from '../../projects/projects.repository.js';
import {
  ProjectUpdatesRepository,
  type StartedUpdate,
} from '../../projects/project-updates.repository.js';
import { isFolderName, ProjectFolders } from '../../projects/project-folders.service.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { NO_PROJECT } from '../../runs/run-explanations.js';
import {
  syncProject,
  type GitProject,
  type SignedFiles,
  type SyncRequest,
} from '../runner/git-checkout.js';
import type { GitCredential } from '../runner/git-command.js';
import { syncImported } from '../runner/import-checkout.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import type { Isolation } from '../sandbox/isolation.js';
import { listInventoryFiles, listPlaybooks } from '../../projects/project-files.js';
import { RunEnded, type ActiveRun } from '../worker/active-runs.service.js';
import { EventStore } from '../worker/event-store.service.js';
import { EngineMissing, JobEnvironments } from '../worker/job-environments.service.js';
import { ProjectContent } from './project-content.service.js';
import {
  CannotStart,
  isExplained,
  outcomeOf,
  type RunOutcome,
  type RunKind,
} from '../worker/outcome.js';
import { RunOutput } from '../worker/run-output.js';

/** Class of the advisory locks on project folders, unique in this database. */
const LOCK_CLASS = 7402;
const LOCK_WAIT_MS = 250;

/**
 * Runs a project update: updates the project's folder on this host to the newest commit of its
 * branch.
 */
@Injectable()
export class ProjectSync implements RunKind {
  readonly usesEnvironmentLater = true;

  constructor(
    private readonly database: Database,
    private readonly projects: ProjectsRepository,
    private readonly updates: ProjectUpdatesRepository,
    private readonly reach: GitReach,
    private readonly runtime: RuntimeSettings,
    private readonly credentials: CredentialSecrets,
    private readonly events: EventStore,
    private readonly folders: ProjectFolders,
    private readonly sandbox: SandboxService,
    private readonly content: ProjectContent,
    private readonly environments: JobEnvironments,
    private readonly settings: Settings,
  ) {}

  async run(run: ActiveRun): Promise<RunOutcome> {
    const row = await this.updates.started(run.id);
    Object.assign(run.position, { counter: row.counter, line: row.line });
    const output = new RunOutput(this.events, run, run.position);
    const outcome = await this.attempt(run, row, output);
    await output.end();
    return { ...outcome, fields: { ...outcome.fields, emitted_events: output.counter } };
  }

  /** Returns the URL, refspec and credential to fetch from a project's repository. */
  async source(
    run: ActiveRun,
    project: Pick<StartedUpdate, 'scm_url' | 'scm_refspec' | 'credential_id'>,
  ): Promise<GitProject> {
    const credential = await this.credential(run, project.credential_id);
    return {
      url: project.scm_url,
      refspec: project.scm_refspec,
      reach: this.reach,
      ...(credential ? { credential } : {}),
    };
  }

  /**
   * Returns the public key that must have signed the files of a project; no key if the project has no
   * credential for signatures.
   *
   * @throws CannotStart if the credential is missing or has no key
   */
  async signedFiles(
    { lookups }: ActiveRun,
    {
      signature_validation_credential_id: id,
    }: Pick<StartedUpdate, 'signature_validation_credential_id'>,
  ): Promise<SignedFiles> {
    if (id === null) return {};
    const found = (await this.credentials.open([id], lookups)).get(id);
    const publicKey = found ? textInput(found.inputs, 'gpg_public_key') : '';
    if (publicKey === '') throw new CannotStart('The credential for signatures has no key.');
    return { publicKey };
  }

  private async attempt(
    run: ActiveRun,
    row: StartedUpdate,
    output: RunOutput,
  ): Promise<RunOutcome> {
    try {
      if (row.project_id === null || row.scm_type === '' || !isFolderName(row.local_path)) {
        throw new CannotStart(NO_PROJECT);
      }
      const { project_id: id } = row;
      return await this.withFolderLock(id, run.signal, 'exclusive', () =>
        this.sync(run, id, row, output),
      );
    } catch (error) {
      if (!isExplained(error) || error instanceof EngineMissing) throw error;
      output.add(`${error.message}\n`);
      return outcomeOf(error);
    }
  }

  private async sync(
    run: ActiveRun,
    projectId: number,
    row: StartedUpdate,
    output: RunOutput,
  ): Promise<RunOutcome> {
    const destination = this.folders.path(row.local_path);
    const { DEFAULT_PROJECT_UPDATE_TIMEOUT: defaultTimeout } = await this.runtime.get(
      'DEFAULT_PROJECT_UPDATE_TIMEOUT',
    );
    const timeoutSeconds = row.timeout || defaultTimeout;
    const deadline = timeoutSeconds > 0 ? performance.now() + timeoutSeconds * 1000 : undefined;
    const request: SyncRequest = {
      ...(await this.source(run, row)),
      ...(await this.signedFiles(run, row)),
      destination,
      sandbox: this.sandbox,
      branch: row.scm_branch,
      clean: row.scm_clean,
      deleteOnUpdate: row.scm_delete_on_update,
      trackSubmodules: row.scm_track_submodules,
      timeoutSeconds,
      maxFolderBytes: this.settings.JOB_DISK_BYTES,
      signal: run.signal,
      onOutput: (text) => output.add(text),
    };
    const { scm_type: kind } = row;
    const { revision } = await (kind === 'svn' || kind === 'archive'
      ? syncImported(kind, request)
      : syncProject(request));
    output.add(`Revision: ${revision}\n`);
    await this.content.provide({
      projectId,
      projectDir: destination,
      revision,
      organizationId: row.organization_id,
      lookups: run.lookups,
      isolation: () => this.containers(run, output),
      deadline,
      signal: run.signal,
      onOutput: (text) => output.add(text),
      isFresh: row.scm_delete_on_update,
    });
    const synced = {
      scm_revision: revision,
      playbook_files: await listPlaybooks(destination),
      inventory_files: await listInventoryFiles(destination),
    };
    const write = () => this.projects.storeSync(projectId, row, synced);
    return { status: 'successful', fields: { scm_revision: revision }, write };
  }

  /**
   * Returns the isolation of the job that runs this sync. For other updates, pulls the image of the
   * update's execution environment and returns its containers.
   */
  private async containers(run: ActiveRun, output: RunOutput): Promise<Isolation | null> {
    if (run.isolation !== null) return run.isolation;
    await output.end();
    await this.environments.provide(run);
    return run.isolation;
  }

  /**
   * Runs `work` under the lock of a project's folder. An `exclusive` lock lets one worker at a time change
   * the folder; holders of a `shared` lock, which read the folder, do not wait for each other.
   *
   * @throws RunEnded if the signal aborts during the wait for the lock
   */
  withFolderLock<T>(
    projectId: number,
    signal: AbortSignal,
    mode: 'exclusive' | 'shared',
    work: () => Promise<T>,
  ): Promise<T> {
    const suffix = mode === 'shared' ? '_shared' : '';
    return this.database.withClient(async (client) => {
      const lock = [LOCK_CLASS, projectId];
      for (;;) {
        const { rows } = await client.query<{ taken: boolean }>(
          `SELECT pg_try_advisory_lock${suffix}($1, $2) AS taken`,
          lock,
        );
        if (rows[0]?.taken) break;
        if (signal.aborted) throw new RunEnded('Ended while waiting for the project.');
        await sleep(LOCK_WAIT_MS);
      }
      try {
        return await work();
      } finally {
        // PostgreSQL also releases the lock when the connection closes.
        await client
          .query(`SELECT pg_advisory_unlock${suffix}($1, $2)`, lock)
          .catch(() => undefined);
      }
    });
  }

  private async credential(
    { lookups }: ActiveRun,
    id: number | null,
  ): Promise<GitCredential | null> {
    if (id === null) return null;
    const found = (await this.credentials.open([id], lookups)).get(id);
    if (!found) return null;
    return {
      username: textInput(found.inputs, 'username'),
      password: textInput(found.inputs, 'password'),
      sshKeyData: textInput(found.inputs, 'ssh_key_data'),
      sshKeyUnlock: textInput(found.inputs, 'ssh_key_unlock'),
    };
  }
}

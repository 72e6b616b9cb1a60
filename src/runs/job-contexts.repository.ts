import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { allEnvironments } from '../execution-environments/execution-environments.repository.js';
import { allInventories } from '../inventories/inventories.repository.js';
import { projectSources, templateVariables } from '../templates/templates.repository.js';
import type { User } from '../users/user.entity.js';
import { userNames } from '../users/users.repository.js';
import { endOfOutput } from './events/job-events.repository.js';
import type { Job } from './job.entity.js';
import { RunDeliveries, RunSchedules, type RunDelivery } from './run-causes.js';
import { UnifiedJob, type RunEnvironment } from './unified-job.entity.js';

/** The current state of a job's project. */
export interface JobProject {
  id: number;
  organization_id: number | null;
  scm_type: string;
  scm_url: string;
  scm_branch: string;
  scm_refspec: string;
  scm_revision: string;
  credential_id: number | null;
  signature_validation_credential_id: number | null;
  local_path: string;
  allow_override: boolean;
  scm_track_submodules: boolean;
  scm_delete_on_update: boolean;
}

/** A job with all data that its run needs. Objects that were deleted since the launch are null. */
export type JobContext = Pick<
  RowOf<Job>,
  | 'id'
  | 'attempt'
  | 'launch_type'
  | 'cancel_requested'
  | 'job_type'
  | 'inventory_id'
  | 'playbook'
  | 'scm_branch'
  | 'forks'
  | 'limit'
  | 'verbosity'
  | 'extra_vars'
  | 'job_tags'
  | 'skip_tags'
  | 'start_at_task'
  | 'force_handlers'
  | 'timeout'
  | 'use_fact_cache'
  | 'become_enabled'
  | 'diff_mode'
  | 'job_slice_number'
  | 'job_slice_count'
  | 'start_args'
  | 'launch_config'
> & {
  inventory_name: string | null;
  project: JobProject | null;
  template: { id: number; name: string; extra_vars: string } | null;
  user: Pick<RowOf<User>, 'id' | 'username' | 'email' | 'first_name' | 'last_name'> | null;
  schedule: { id: number; name: string } | null;
  delivery: Omit<RunDelivery, 'run_id' | 'may_see'> | null;
  credential_ids: number[];
};

/** The execution environment of a run, with the end of the output of an earlier attempt. */
export interface EnvironmentOfRun {
  environment: RunEnvironment;
  cancel_requested: boolean;
  /** Current credential of the environment; null without one. */
  credential_id: number | null;
  counter: number;
  line: number;
}

/** Properties of a run that identify it to other services. */
export interface RunIdentity {
  id: number;
  type: string;
  launch_type: string;
  template: number | null;
  organization: number | null;
  launcher: number | null;
  launcher_name: string | null;
  project: number | null;
  timeout: number | null;
}

/** Loads jobs with the data that workers need. */
@Injectable()
export class JobContextsRepository extends TableRepository<RowOf<Job>> {
  constructor(
    @InjectRepository(UnifiedJob) repository: Repository<UnifiedJob>,
    private readonly schedules: RunSchedules,
    private readonly deliveries: RunDeliveries,
  ) {
    super(repository);
  }

  /**
   * Loads a job in one statement.
   *
   * @throws BrokenInvariant for a job that does not exist
   */
  async load(id: number): Promise<JobContext> {
    return this.database.rowOrFail<JobContext>(sql`
      SELECT job.id, job.attempt, job.launch_type, job.cancel_requested, job.job_type,
        job.inventory_id, inventory.name AS inventory_name, job.playbook, job.scm_branch, job.forks,
        job."limit", job.verbosity, job.extra_vars, job.job_tags, job.skip_tags, job.start_at_task,
        job.force_handlers, job.timeout, job.use_fact_cache, job.become_enabled, job.diff_mode, job.job_slice_number,
        job.job_slice_count, job.start_args, job.launch_config,
        CASE WHEN project.id IS NOT NULL THEN json_build_object('id', project.id,
          'organization_id', project.organization_id, 'scm_type', project.scm_type, 'scm_url', project.scm_url,
          'scm_branch', project.scm_branch, 'scm_refspec', project.scm_refspec,
          'scm_revision', project.scm_revision, 'credential_id', project.credential_id,
          'local_path', project.local_path, 'allow_override', project.allow_override,
          'scm_track_submodules', project.scm_track_submodules,
          'scm_delete_on_update', project.scm_delete_on_update, 'signature_validation_credential_id',
          project.signature_validation_credential_id) END AS project,
        CASE WHEN template.id IS NOT NULL THEN to_json(template) END AS template,
        CASE WHEN author.id IS NOT NULL THEN to_json(author) END AS user,
        CASE WHEN schedule.id IS NOT NULL THEN to_json(schedule) END AS schedule,
        CASE WHEN delivery.id IS NOT NULL THEN to_json(delivery) END AS delivery,
        ARRAY(SELECT credential_id FROM job_credentials WHERE job_id = job.id
          ORDER BY credential_id) AS credential_ids
      FROM unified_jobs job
      LEFT JOIN (${allInventories()}) inventory ON inventory.id = job.inventory_id
      LEFT JOIN (${projectSources()}) project ON project.id = job.project_id
      LEFT JOIN (${templateVariables()}) template ON template.id = job.unified_job_template_id
      LEFT JOIN (${userNames()}) author ON author.id = job.created_by_id
      LEFT JOIN (${this.schedules.names()}) schedule ON schedule.id = job.schedule_id
      LEFT JOIN (${this.deliveries.facts()}) delivery ON delivery.id = job.webhook_delivery_id
      WHERE job.id = ${id}`);
  }

  /**
   * Returns the properties that identify a run of any kind.
   *
   * @throws BrokenInvariant for a run that does not exist
   */
  async identityOf(id: number): Promise<RunIdentity> {
    return this.database.rowOrFail<RunIdentity & Record<string, unknown>>(sql`
      SELECT run.id, run.type, run.launch_type, run.unified_job_template_id AS template,
        run.organization_id AS organization, run.created_by_id AS launcher,
        author.username AS launcher_name, run.project_id AS project, run.timeout
      FROM unified_jobs run LEFT JOIN (${userNames()}) author ON author.id = run.created_by_id
      WHERE run.id = ${id}`);
  }

  /** Returns the execution environment of a run of any kind; undefined for a run without one. */
  environmentOf(id: number): Promise<EnvironmentOfRun | undefined> {
    return this.database.row<EnvironmentOfRun>(sql`
      SELECT run.environment, run.cancel_requested, env.credential_id, stored.counter, stored.line
      FROM unified_jobs run
      LEFT JOIN (${allEnvironments()}) env ON env.id = run.execution_environment_id
      CROSS JOIN LATERAL (${endOfOutput(sql`run.id`)}) stored
      WHERE run.id = ${id} AND run.environment IS NOT NULL`);
  }
}

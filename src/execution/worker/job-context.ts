import { Injectable } from '@nestjs/common';
import { rowContext, SecretBox } from '../../common/crypto/secret-box.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { openSecrets } from '../../prompts/launch-secrets.js';

/** The project of a job as it is now. */
export interface JobProject {
  id: number;
  scm_type: string;
  scm_url: string;
  scm_branch: string;
  scm_refspec: string;
  scm_revision: string;
  credential_id: number | null;
  local_path: string;
  allow_override: boolean;
}

/** What a webhook's delivery keeps of its event. */
interface JobDelivery {
  event: string;
  guid: string;
  ref: string | null;
  ref_name: string | null;
  head_ref: string | null;
  status_api: string | null;
  payload: string | null;
}

/** A job with everything its run is made of, read in one statement. */
export interface JobContext {
  id: number;
  attempt: number;
  launch_type: string;
  cancel_requested: boolean;
  job_type: string;
  inventory_id: number | null;
  inventory_name: string | null;
  playbook: string;
  scm_branch: string;
  forks: number;
  limit: string;
  verbosity: number;
  extra_vars: string;
  job_tags: string;
  skip_tags: string;
  start_at_task: string;
  force_handlers: boolean;
  timeout: number;
  become_enabled: boolean;
  diff_mode: boolean;
  job_slice_number: number;
  job_slice_count: number;
  start_args: string;
  launch_config: object | null;
  project: JobProject | null;
  template: { id: number; name: string; extra_vars: string } | null;
  user: {
    id: number;
    username: string;
    email: string;
    first_name: string;
    last_name: string;
  } | null;
  schedule: { id: number; name: string } | null;
  delivery: JobDelivery | null;
  credential_ids: number[];
}

/** What a job was given in confidence. */
export interface JobSecrets {
  passwords: Readonly<Record<string, string>>;
  answers: Readonly<Record<string, unknown>>;
}

/** Reads what a job needs to run. */
@Injectable()
export class JobContexts {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  async load(id: number): Promise<JobContext> {
    const row = await this.database.row<JobContext & Record<string, unknown>>(sql`
      SELECT job.id, job.attempt, job.launch_type, job.cancel_requested, job.job_type,
        job.inventory_id, inventory.name AS inventory_name, job.playbook, job.scm_branch, job.forks,
        job."limit", job.verbosity, job.extra_vars, job.job_tags, job.skip_tags, job.start_at_task,
        job.force_handlers, job.timeout, job.become_enabled, job.diff_mode, job.job_slice_number,
        job.job_slice_count, job.start_args, job.launch_config,
        CASE WHEN project.id IS NOT NULL THEN json_build_object('id', project.id,
          'scm_type', project.scm_type, 'scm_url', project.scm_url,
          'scm_branch', project.scm_branch, 'scm_refspec', project.scm_refspec,
          'scm_revision', project.scm_revision, 'credential_id', project.credential_id,
          'local_path', project.local_path, 'allow_override', project.allow_override) END AS project,
        CASE WHEN template.id IS NOT NULL THEN json_build_object('id', template.id,
          'name', template.name, 'extra_vars', template.extra_vars) END AS template,
        CASE WHEN author.id IS NOT NULL THEN json_build_object('id', author.id,
          'username', author.username, 'email', author.email, 'first_name', author.first_name,
          'last_name', author.last_name) END AS user,
        CASE WHEN schedule.id IS NOT NULL THEN json_build_object('id', schedule.id,
          'name', schedule.name) END AS schedule,
        CASE WHEN delivery.id IS NOT NULL THEN json_build_object('event', delivery.event,
          'guid', delivery.guid, 'ref', delivery.ref, 'ref_name', delivery.ref_name,
          'head_ref', delivery.head_ref, 'status_api', delivery.status_api,
          'payload', delivery.payload) END AS delivery,
        ARRAY(SELECT credential_id FROM job_credentials WHERE job_id = job.id
          ORDER BY credential_id) AS credential_ids
      FROM unified_jobs job
      LEFT JOIN inventories inventory ON inventory.id = job.inventory_id
      LEFT JOIN unified_job_templates project ON project.id = job.project_id
      LEFT JOIN unified_job_templates template ON template.id = job.unified_job_template_id
      LEFT JOIN users author ON author.id = job.created_by_id
      LEFT JOIN schedules schedule ON schedule.id = job.schedule_id
      LEFT JOIN webhook_deliveries delivery ON delivery.id = job.webhook_delivery_id
      WHERE job.id = ${id}`);
    if (!row) throw new Error(`The job ${id} does not exist`);
    return row;
  }

  /**
   * What was given at launch and is kept sealed: passwords by name, and the secret answers of a survey
   * by variable, whose places in `extra_vars` hold a mask.
   *
   * @throws UnsealError when they cannot be opened with the installation's keys
   */
  secrets({ id, start_args: sealed, launch_config: config }: JobContext): JobSecrets {
    const context = rowContext('unified_jobs', id, 'start_args');
    const passwords = sealed === '' ? {} : JSON.parse(this.box.open(sealed, context));
    return {
      passwords: passwords as Record<string, string>,
      answers: openSecrets(this.box, id, config),
    };
  }
}

import type { LaunchWebhook } from '../runs/webhook-run.schema.js';
import type { FieldErrors } from '../common/errors/errors.js';
import type { PromptField, Prompts } from '../prompts/launch-options.js';
import type { LaunchType } from '../runs/unified-job.schema.js';

/** One job to be launched from a job template. */
export interface LaunchRequest {
  templateId: number;
  launchType: LaunchType;
  /** Launch fields by name, already typed; what the template does not ask for is ignored and told. */
  prompts: Prompts;
  /** Launch fields that hold although the template does not ask for them. */
  holds?: readonly PromptField[];
  /** User shown as the launcher; null for webhooks. */
  createdBy: number | null;
  /** Answers to `passwords_needed_to_start`, by name. */
  credentialPasswords?: Readonly<Record<string, string>>;
  /** Set on top of all other variables whether the template asks for variables or not. */
  extraVars?: Readonly<Record<string, unknown>>;
  /** Variables of a workflow job that are artifacts of the runs around it. */
  artifactNames?: readonly string[];
  /** Names of variables whose values are secret, besides the passwords of the template's survey. */
  secretNames?: readonly string[];
  /** Ref of an event: used where project and template let it be chosen, else left out. */
  scmBranch?: string | null;
  webhook?: LaunchWebhook;
  /** The run is made as `new` and begins once it is approved (`HeldRuns`). */
  isHeld?: boolean;
  /**
   * The share of the hosts this job takes, numbered from 1; number 0: all of them. A launch that does
   * not say is sliced as its template wants it.
   */
  slice?: { number: number; count: number };
  /** The prompts were accepted by an earlier launch of the same template and hold as they are. */
  isRelaunch?: boolean;
  /** Name of the job where it is not the template's. */
  name?: string;
}

/** What would come of one request: what is wrong with it, or what it ignores. */
export interface LaunchCheck {
  request: LaunchRequest;
  /** Empty when the job can be launched. Texts by field. */
  errors: FieldErrors;
  /** The caller may not launch the template, or may not use an object that the request names. */
  forbidden: 'template' | 'prompts' | null;
  /** Fields that were sent and that the template does not ask for, with their values. */
  ignored: Record<string, unknown>;
}

/** The run that came of a request. */
export interface LaunchedRun {
  id: number;
  /** Resource type: a job template launched in slices makes a workflow job. */
  type: 'job' | 'workflow_job';
  /** Fields that were sent and that the template does not ask for, with their values. */
  ignored: Record<string, unknown>;
}

/** What came of a request that was launched if it could be. */
export interface TriedLaunch {
  run: LaunchedRun | null;
  /** Why there is none, by field. */
  errors: FieldErrors;
}

/** A run that was made whatever is wrong with it. */
export interface SpawnedRun extends LaunchedRun {
  /** Why it cannot go on, by field; empty when it can. */
  errors: FieldErrors;
}

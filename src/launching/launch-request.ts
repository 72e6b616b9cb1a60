import type { LaunchWebhook } from '../runs/webhook-run.schema.js';
import type { FieldErrors } from '../common/errors/errors.js';
import type { PromptField, Prompts } from '../prompts/launch-options.js';
import type { LaunchType } from '../runs/unified-job.schema.js';

/** A request to launch a job template. */
export interface LaunchRequest {
  templateId: number;
  launchType: LaunchType;
  /**
   * Launch fields by name, with their types; fields that the template does not prompt for are
   * ignored and reported.
   */
  prompts: Prompts;
  /** Launch fields that apply even if the template does not prompt for them. */
  holds?: readonly PromptField[];
  /** User who launches; null for webhooks. */
  createdBy: number | null;
  /** Passwords for `passwords_needed_to_start`, by name. */
  credentialPasswords?: Readonly<Record<string, string>>;
  /** Variables that override all others, even if the template does not prompt for variables. */
  extraVars?: Readonly<Record<string, unknown>>;
  /** Variables of a workflow job that are artifacts of surrounding runs. */
  artifactNames?: readonly string[];
  /** Names of secret variables besides the passwords of the template's survey. */
  secretNames?: readonly string[];
  /** Ref of an event: used if project and template permit another branch, otherwise ignored. */
  scmBranch?: string | null;
  webhook?: LaunchWebhook;
  /** True to create the run as `new`; it starts once it is approved (`HeldRuns`). */
  isHeld?: boolean;
  /**
   * Slice of the hosts for this job, numbered from 1; number 0: all hosts. Without this property
   * the template's slice count applies.
   */
  slice?: { number: number; count: number };
  /**
   * True if the prompts were accepted by an earlier launch of the same template and apply
   * unchanged.
   */
  isRelaunch?: boolean;
  /** Name of the job; default: the template's name. */
  name?: string;
}

/** The checked launch of one request: its faults and its ignored fields. */
export interface LaunchCheck {
  request: LaunchRequest;
  /** Texts by field; empty if the launch is possible. */
  errors: FieldErrors;
  /**
   * Reason for a refusal: no permission to launch the template, or to use an object of the request.
   */
  forbidden: 'template' | 'prompts' | null;
  /** Fields of the request that the template does not prompt for, with their values. */
  ignored: Record<string, unknown>;
}

/** The run that a request launched. */
export interface LaunchedRun {
  id: number;
  /** Resource type: a job template that is launched in slices creates a workflow job. */
  type: 'job' | 'workflow_job';
  /** Fields of the request that the template does not prompt for, with their values. */
  ignored: Record<string, unknown>;
}

/** Result of a request that was launched if possible. */
export interface TriedLaunch {
  run: LaunchedRun | null;
  /** Reasons why there is no run, by field. */
  errors: FieldErrors;
}

/** A run that was created despite its faults. */
export interface SpawnedRun extends LaunchedRun {
  /** Reasons why it cannot start, by field; empty if it can. */
  errors: FieldErrors;
}

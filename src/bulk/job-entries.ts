import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { noDictionary } from '../common/fields/fault-texts.js';
import { readFields } from '../common/fields/validation.js';
import { parseVariables } from '../common/fields/variables.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import { isRecord } from '../common/records.js';
import { Yielder } from '../common/yielder.js';
import { promptsOfBody } from '../prompts/launch-body.js';
import type { Prompts } from '../prompts/launch-options.js';
import {
  BulkJob,
  BulkLaunchRequest,
  DEFAULTS_IGNORED_IF_EMPTY,
  JOB_FIELDS_IGNORED_IF_EMPTY,
} from './bulk-job.dto.js';

type Values = Readonly<Record<string, unknown>>;

/** Job of a bulk launch with typed values. */
export interface JobEntry {
  templateId: number;
  identifier: string;
  prompts: Prompts;
  /** Names of sent fields that have no effect on any template. */
  ignored?: readonly string[];
  /** Names of secret variables of the former launch, for a relaunch. */
  secrets?: readonly string[];
}

/**
 * Parses the body of a bulk launch, without its jobs.
 *
 * @returns valid values, prompts that are the defaults of the jobs, and errors
 */
export function readLaunch(body: Values): {
  values: Partial<BulkLaunchRequest>;
  prompts: Prompts;
  errors: FieldErrors;
} {
  const { values, errors } = readFields(
    BulkLaunchRequest,
    nonEmpty(body, DEFAULTS_IGNORED_IF_EMPTY),
  );
  const prompts = promptsIn(values, errors);
  return { values, prompts, errors };
}

/**
 * Parses the jobs of a bulk launch, yielding to the event loop between them.
 *
 * @returns entries, with null for an invalid entry, and the errors of each entry
 */
export async function readJobEntries(jobs: readonly unknown[]): Promise<{
  entries: (JobEntry | null)[];
  errors: FieldErrors[];
}> {
  const yielder = new Yielder();
  const read: ReturnType<typeof readJob>[] = [];
  for (const job of jobs) {
    read.push(readJob(job));
    await yielder.yieldIfDue();
  }
  return { entries: read.map(({ entry }) => entry), errors: read.map(({ errors }) => errors) };
}

function readJob(job: unknown): { entry: JobEntry | null; errors: FieldErrors } {
  if (!isRecord(job)) return { entry: null, errors: { __all__: [noDictionary(job)] } };
  const { values, errors } = readFields(BulkJob, nonEmpty(job, JOB_FIELDS_IGNORED_IF_EMPTY));
  // Instance groups of a job are ignored (docs/contract/bulk.md#launching-jobs).
  const { instance_groups: groups, ...prompts } = promptsIn(values, errors);
  if (Object.keys(errors).length > 0) return { entry: null, errors };
  const ignored = groups === undefined ? [] : ['instance_groups'];
  const templateId = existing(values.unified_job_template, 'a required field was read');
  const identifier = values.identifier ?? randomUUID();
  return { entry: { templateId, identifier, prompts, ignored }, errors };
}

/** Removes fields that count as not sent when they are empty. */
const nonEmpty = (body: Values, maybeEmpty: ReadonlySet<string>): Values =>
  Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== '' || !maybeEmpty.has(name)),
  );

/** Returns the prompts in the parsed values. */
function promptsIn(
  { extra_vars: vars, extra_data: data, ...others }: Values,
  errors: FieldErrors,
): Prompts {
  if (errors.extra_vars || errors.extra_data) return {};
  if (!sameVariables(vars, data)) {
    errors.extra_vars = ['extra_vars and extra_data differ: send one of them.'];
  }
  return promptsOfBody({ ...others, extra_vars: vars ?? data });
}

/** Returns true unless both texts are sent and contain different variables. */
const sameVariables = (a: unknown, b: unknown): boolean =>
  typeof a !== 'string' ||
  typeof b !== 'string' ||
  isDeepStrictEqual(parseVariables(a), parseVariables(b));

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { INT4_MAX, isStorable } from '../common/fields/text.js';
import { typeName } from '../common/fields/fault-texts.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { readPrompts as readLaunchFields } from '../prompts/launch-body.js';
import { PROMPT_FIELDS, type Prompts } from '../prompts/launch-options.js';

/** A job of a bulk launch, its values typed. */
export interface JobEntry {
  templateId: number;
  identifier: string;
  prompts: Prompts;
  /** Fields that were sent and never count in a bulk launch. */
  ignored: string[];
}

const MAX_IDENTIFIER = 512;

/**
 * Reads the jobs of a bulk launch.
 *
 * @returns entries with null for those that have faults, and the faults of each entry
 */
export function readJobEntries(given: readonly unknown[]): {
  entries: (JobEntry | null)[];
  errors: FieldErrors[];
} {
  const read = given.map((one) => {
    const faults: FieldErrors = {};
    return { entry: readJob(one, faults), faults };
  });
  return { entries: read.map(({ entry }) => entry), errors: read.map(({ faults }) => faults) };
}

function readJob(given: unknown, faults: FieldErrors): JobEntry | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    faults.__all__ = [`Invalid data. Expected a dictionary, but got ${typeName(given)}.`];
    return null;
  }
  const job = given as Record<string, unknown>;
  const templateId = readTemplate(job.unified_job_template, faults);
  const identifier = readIdentifier(job.identifier, faults);
  const { prompts, ignored } = readPrompts(job, faults);
  return Object.keys(faults).length === 0 ? { templateId, identifier, prompts, ignored } : null;
}

function readTemplate(given: unknown, faults: FieldErrors): number {
  const id = typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : given;
  if (id === undefined) faults.unified_job_template = ['This field is required.'];
  else if (id === null) faults.unified_job_template = ['This field may not be null.'];
  else if (typeof id !== 'number' || !Number.isInteger(id)) {
    faults.unified_job_template = ['A valid integer is required.'];
  } else if (id < 1) {
    faults.unified_job_template = ['Ensure this value is greater than or equal to 1.'];
  } else if (id > INT4_MAX) {
    faults.unified_job_template = [`Ensure this value is less than or equal to ${INT4_MAX}.`];
  } else return id;
  return 0;
}

function readIdentifier(given: unknown, faults: FieldErrors): string {
  if (given === undefined || given === null || given === '') return randomUUID();
  const text = typeof given === 'number' ? String(given) : given;
  if (typeof text !== 'string') faults.identifier = ['Not a valid string.'];
  else if (!isStorable(text)) faults.identifier = ['Null characters are not allowed.'];
  else if (text.length > MAX_IDENTIFIER) {
    faults.identifier = [`Ensure this field has no more than ${MAX_IDENTIFIER} characters.`];
  } else return text;
  return '';
}

/**
 * Reads the prompts of an entry or of the whole launch. Empty texts count as not sent; instance
 * groups have no effect here.
 */
export function readPrompts(
  body: Record<string, unknown>,
  faults: FieldErrors,
): { prompts: Prompts; ignored: string[] } {
  try {
    const given = withoutEmpty(body);
    const variables = givenVariables(body);
    if (variables !== undefined) given.extra_vars = variables;
    const { instance_groups: groups, ...prompts } = readLaunchFields(given);
    const hasGroups = Array.isArray(groups) && groups.length > 0;
    return { prompts, ignored: hasGroups ? ['instance_groups'] : [] };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    Object.assign(faults, error.errors);
    return { prompts: {}, ignored: [] };
  }
}

function withoutEmpty(body: Record<string, unknown>): Record<string, unknown> {
  const entries = PROMPT_FIELDS.filter((field) => {
    const value = body[field];
    return value !== undefined && value !== null && value !== '';
  }).map((field) => [field, body[field]]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** Variables under either name; both together must say the same. */
function givenVariables({ extra_vars: vars, extra_data: data }: Record<string, unknown>): unknown {
  const one = isSent(vars) ? parsed('extra_vars', vars) : undefined;
  const other = isSent(data) ? parsed('extra_data', data) : undefined;
  if (one !== undefined && other !== undefined && !isDeepStrictEqual(one, other)) {
    throw Invalid.field('extra_vars', 'extra_vars and extra_data differ: send one of them.');
  }
  return one ?? other;
}

const isSent = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

function parsed(field: string, value: unknown): unknown {
  try {
    return readLaunchFields({ extra_vars: value }).extra_vars;
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    throw new Invalid({ [field]: error.errors.extra_vars ?? ['Not a valid value.'] });
  }
}

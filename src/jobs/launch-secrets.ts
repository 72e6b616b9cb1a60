import { rowContext, UnsealError, isSealed, type SecretBox } from '../common/crypto/secret-box.js';
import { ENCRYPTED } from '../common/fields/validate.js';

const variableContext = (jobId: number, name: string): string =>
  rowContext('unified_jobs', jobId, `extra_vars.${name}`);
const passwordContext = (jobId: number): string => rowContext('unified_jobs', jobId, 'start_args');

/** `extra_vars` of a job row: JSON text, secret values of the top level sealed for the row. */
export function sealVariables(
  box: SecretBox,
  jobId: number,
  variables: Readonly<Record<string, unknown>>,
  secretNames: readonly string[],
): string {
  const sealed = Object.entries(variables).map(([name, value]) =>
    secretNames.includes(name)
      ? [name, box.seal(JSON.stringify(value), variableContext(jobId, name))]
      : [name, value],
  );
  return JSON.stringify(Object.fromEntries(sealed));
}

export interface OpenedVariables {
  variables: Record<string, unknown>;
  /** Names of the variables that were sealed: their values must not be shown or logged. */
  secretNames: string[];
}

/** The variables of a job row with its secrets in clear. */
export function openVariables(box: SecretBox, jobId: number, text: string): OpenedVariables {
  const secretNames: string[] = [];
  const entries = Object.entries(parse(text)).map(([name, value]) => {
    const opened = openValue(box, jobId, name, value);
    if (opened === undefined) return [name, value];
    secretNames.push(name);
    return [name, opened.value];
  });
  return { variables: Object.fromEntries(entries) as Record<string, unknown>, secretNames };
}

/** What merely looks sealed was written by a user and stays what it is. */
function openValue(
  box: SecretBox,
  jobId: number,
  name: string,
  value: unknown,
): { value: unknown } | undefined {
  if (typeof value !== 'string' || !isSealed(value)) return undefined;
  try {
    return { value: JSON.parse(box.open(value, variableContext(jobId, name))) as unknown };
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}

/** The variables of a job row as the API shows them. */
export function maskVariables(text: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(parse(text)).map(([name, value]) => [
      name,
      typeof value === 'string' && isSealed(value) ? ENCRYPTED : value,
    ]),
  );
}

/** `start_args` of a run: the passwords of its launch by name, sealed; empty without any. */
export const sealPasswords = (
  box: SecretBox,
  jobId: number,
  passwords: Readonly<Record<string, string>>,
): string =>
  Object.keys(passwords).length === 0
    ? ''
    : box.seal(JSON.stringify(passwords), passwordContext(jobId));

/** The passwords a run was launched with. @throws UnsealError when they are not of this row */
export const openPasswords = (
  box: SecretBox,
  jobId: number,
  startArgs: string,
): Record<string, string> =>
  startArgs === ''
    ? {}
    : (JSON.parse(box.open(startArgs, passwordContext(jobId))) as Record<string, string>);

const parse = (text: string): Record<string, unknown> =>
  text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);

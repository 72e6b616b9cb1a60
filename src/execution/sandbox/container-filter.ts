import {
  CLONE_CALLS,
  ERRORS,
  FAMILIES,
  NEW_USER_NAMESPACE,
  REFUSED_CALLS,
} from './system-calls.js';

/**
 * A rule of a seccomp profile in the format of container engines (`seccomp.json` of the OCI
 * runtimes).
 */
interface Rule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ERRNO';
  readonly errnoRet: number;
  readonly args?: readonly Comparison[];
}

interface Comparison {
  readonly index: 0;
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_GT' | 'SCMP_CMP_MASKED_EQ';
  readonly value: number;
  readonly valueTwo?: number;
}

const LAST_FAMILY = Math.max(...FAMILIES);

/**
 * Returns the system call filter of bubblewrap as a profile for container engines. The profile
 * replaces the engine's default profile, which permits some of these calls.
 */
export function filterProfile(): string {
  const families = Array.from({ length: LAST_FAMILY }, (_, family) => family);
  const refusedFamilies = families.filter((family) => !FAMILIES.includes(family));
  const syscalls: Rule[] = [
    refuse('EPERM', REFUSED_CALLS),
    refuse('ENOSYS', [CLONE_CALLS.hidden]),
    refuse('EPERM', [CLONE_CALLS.plain], {
      op: 'SCMP_CMP_MASKED_EQ',
      value: NEW_USER_NAMESPACE,
      valueTwo: NEW_USER_NAMESPACE,
    }),
    ...refusedFamilies.map((value) => refuseSocket({ op: 'SCMP_CMP_EQ', value })),
    refuseSocket({ op: 'SCMP_CMP_GT', value: LAST_FAMILY }),
  ];
  return JSON.stringify({ defaultAction: 'SCMP_ACT_ALLOW', syscalls });
}

const refuseSocket = (comparison: Omit<Comparison, 'index'>): Rule =>
  refuse('EAFNOSUPPORT', ['socket'], comparison);

function refuse(
  error: keyof typeof ERRORS,
  names: readonly string[],
  comparison?: Omit<Comparison, 'index'>,
): Rule {
  return {
    names,
    action: 'SCMP_ACT_ERRNO',
    errnoRet: ERRORS[error],
    ...(comparison ? { args: [{ index: 0, ...comparison }] } : {}),
  };
}

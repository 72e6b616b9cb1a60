/** Modes of a run: apply changes, or only report them. */
export const JOB_TYPES = [
  ['run', 'Run'],
  ['check', 'Check'],
] as const;

/** Verbosity of a run, as the number of its `-v` options. */
export const VERBOSITIES = [
  [0, '0 (Normal)'],
  [1, '1 (Verbose)'],
  [2, '2 (More Verbose)'],
  [3, '3 (Debug)'],
  [4, '4 (Connection Debug)'],
  [5, '5 (WinRM Debug)'],
] as const;

/**
 * Maximum number of characters of a text that becomes one argument of Ansible. Linux limits an argument to
 * 128 KiB, and a character has up to four bytes.
 */
export const MAX_ARGUMENT = 32_000;

/** What a run may be told to do: apply changes, or only tell which there would be. */
export const JOB_TYPES = [
  ['run', 'Run'],
  ['check', 'Check'],
] as const;

/** How much a run tells, as the number of its `-v`. */
export const VERBOSITIES = [
  [0, '0 (Normal)'],
  [1, '1 (Verbose)'],
  [2, '2 (More Verbose)'],
  [3, '3 (Debug)'],
  [4, '4 (Connection Debug)'],
  [5, '5 (WinRM Debug)'],
] as const;

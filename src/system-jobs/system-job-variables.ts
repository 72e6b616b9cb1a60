/** Options of a clean-up, as the variables of its launch set them. */
export interface CleanupOptions {
  /** Age in days from which rows are removed; null for the default of the kind. */
  days: number | null;
  /** True to count the rows that would be removed, and to remove none. */
  isDryRun: boolean;
}

type Variables = Readonly<Record<string, unknown>>;

const MAX_DAYS = 36_500;

/** Returns the faults of the variables of a launch; empty if there are none. */
export function variableFaults({ days, dry_run: dryRun, ...others }: Variables): string[] {
  const names = Object.keys(others);
  return [
    ...(names.length > 0 ? [`Variables ${names.join(', ')} are not allowed for system jobs.`] : []),
    ...(days === undefined || readDays(days) !== null ? [] : ['days must be a positive integer.']),
    ...(dryRun === undefined || typeof dryRun === 'boolean'
      ? []
      : ['dry_run must be true or false.']),
  ];
}

/** Returns the options that variables without faults set. */
export const cleanupOptions = ({ days, dry_run: dryRun }: Variables): CleanupOptions => ({
  days: readDays(days),
  isDryRun: dryRun === true,
});

/** Returns a number of days, given as a number or as digits; null for other values. */
function readDays(value: unknown): number | null {
  const days = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return Number.isInteger(days) && Number(days) >= 0 && Number(days) <= MAX_DAYS
    ? Number(days)
    : null;
}

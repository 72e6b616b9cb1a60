/** Options of a cleanup, from the variables of its launch. */
export interface CleanupOptions {
  /** Age in days from which rows are removed; null for the default of the kind. */
  days: number | null;
  /** True to count the rows that would be removed, without removing rows. */
  isDryRun: boolean;
}

type Variables = Readonly<Record<string, unknown>>;

const MAX_DAYS = 36_500;

/** Returns the errors of the variables of a launch; empty for valid variables. */
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

/** Returns the options that valid variables set. */
export const cleanupOptions = ({ days, dry_run: dryRun }: Variables): CleanupOptions => ({
  days: readDays(days),
  isDryRun: dryRun === true,
});

/** Parses a number of days from a number or a string of digits; returns null for other values. */
function readDays(value: unknown): number | null {
  const days = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return Number.isInteger(days) && Number(days) >= 0 && Number(days) <= MAX_DAYS
    ? Number(days)
    : null;
}

interface ActiveRun {
  id: number;
  type: string;
}

/** Returns the body of a refused deletion because of active runs. Its text contains at most five runs. */
export function inUse(...runs: ActiveRun[]): object {
  const names = runs.slice(0, 5).map(({ id, type }) => `${type.replaceAll('_', ' ')} ${id}`);
  const others = runs.length - names.length;
  const list = names.join(', ') + (others > 0 ? ` and ${others} more` : '');
  return {
    detail: `Resource is being used by running jobs: ${list}.`,
    error: 'Resource is being used by running jobs.',
    active_jobs: runs.map(({ id, type }) => ({ id, type })),
  };
}

import { performTasks } from '../../common/thread.js';
import type { MatchTask } from './name-pattern.js';

/** Returns the names that an expression matches. */
performTasks(({ source, flags, names }: MatchTask): string[] => {
  const expression = new RegExp(source, flags);
  return names.filter((name) => expression.test(name));
});

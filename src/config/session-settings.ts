import { seconds } from './setting.js';

export const DAY_SECONDS = 86_400;

/** Lifetime of browser sessions, and enforcement of https (docs/contract/access.md#sessions). */
export const SESSION_SETTINGS = {
  SESSION_COOKIE_AGE: seconds({
    category: 'authentication',
    default: 1800,
    min: 60,
    help: 'Seconds a session lives after its last request.',
  }),
  SESSION_MAX_AGE: seconds({
    category: 'authentication',
    default: DAY_SECONDS,
    min: 60,
    help: 'Seconds a session lives at most, however much it is used.',
  }),
  HSTS_MAX_AGE: seconds({
    category: 'authentication',
    default: 365 * DAY_SECONDS,
    help: 'Seconds for which browsers that came by https come by nothing else; 0: they are not told.',
  }),
} as const;

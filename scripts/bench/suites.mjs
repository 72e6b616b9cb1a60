import { benchAbuse } from './abuse.mjs';
import { benchBulk } from './bulk.mjs';
import { benchEvents } from './events.mjs';
import { benchFramework } from './framework.mjs';
import { benchGrowth } from './growth.mjs';
import { benchInventory } from './inventory.mjs';
import { benchIsolation } from './isolation.mjs';
import { benchLists } from './lists.mjs';
import { benchMemory } from './memory.mjs';
import { benchNotifications } from './notifications.mjs';
import { benchPages } from './pages.mjs';
import { benchRuns } from './runs.mjs';
import { benchScheduler } from './scheduler.mjs';
import { benchWebhooks } from './webhooks.mjs';

/**
 * The suites of `npm run bench`, in the order they run.
 *
 * @type {[name: string, measure: (input: import('./types.d.mts').SuiteInput) => Promise<object>][]}
 */
const ROWS = [
  ['lists', benchLists],
  ['framework', benchFramework],
  ['growth', benchGrowth],
  ['pages', benchPages],
  ['bulk', benchBulk],
  ['inventory', benchInventory],
  ['webhooks', benchWebhooks],
  ['notifications', benchNotifications],
  ['events', benchEvents],
  ['scheduler', benchScheduler],
  ['runs', benchRuns],
  ['isolation', benchIsolation],
  ['memory', benchMemory],
  ['abuse', benchAbuse],
];

export const SUITES = new Map(ROWS);

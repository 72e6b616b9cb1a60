/**
 * `npm run demo` shows a job on a running server, every step with the request that a user would send. `npm
 * run demo -- workflow` shows workflows instead, and `npm run demo -- inventory` inventory sources. `npm
 * start` must be running in another terminal.
 */
import { runInventory } from './demo/inventory.mjs';
import { runMainJob } from './demo/main-job.mjs';
import { runWorkflow } from './demo/workflow.mjs';
import { connect } from './demo/connection.mjs';
import { fail, heading } from './demo/narrator.mjs';

const stories = { main: runMainJob, workflow: runWorkflow, inventory: runInventory };
const story = stories[process.argv[2] ?? 'main'];

if (!story) {
  fail(`Unknown story. Choose one of: ${Object.keys(stories).join(', ')}.`);
} else {
  try {
    const api = await connect();
    heading(`Automation Controller at ${api.url}`);
    await story(api);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

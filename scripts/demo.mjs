/**
 * `npm run demo`: the main job against a running server, every step shown with the request a user
 * would send. `npm run demo -- workflow` tells of workflows instead, `npm run demo -- inventory` of
 * where hosts come from. `npm start` must be running in another terminal.
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

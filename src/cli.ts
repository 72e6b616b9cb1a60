import { runCommand } from './cli/commands.js';

const code = await runCommand(process.argv.slice(2));
// Exit explicitly: the application context can still hold open connections.
process.exit(code);

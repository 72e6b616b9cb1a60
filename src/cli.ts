import { runCommand } from './cli/run-command.js';

const code = await runCommand(process.argv.slice(2));
// A command is over when it says so, whatever connections its application context still holds.
process.exit(code);

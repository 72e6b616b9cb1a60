import { COMMANDS } from './commands.js';
import { messageOf } from '../common/errors/errors.js';

/**
 * Runs one administrative command.
 *
 * @returns the exit code
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const [name = 'help', ...rest] = argv;
  const command = COMMANDS.get(name);
  if (!command) {
    const list = [...COMMANDS].map(([key, { summary }]) => `  ${key.padEnd(20)} ${summary}`);
    process.stderr.write(`Usage: controller <command>\n\n${list.join('\n')}\n`);
    return name === 'help' ? 0 : 2;
  }
  try {
    return (await command.run(rest)) ?? 0;
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return 1;
  }
}

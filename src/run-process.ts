import { closeSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { SettingsError } from './config/setting.js';
import { Settings } from './config/settings.js';
import { JsonLogger } from './logging/json-logger.js';

const SHUTDOWN_LIMIT_MS = 24_000;

/** Directory of a process's file descriptors on Linux, and their close-on-exec flag. */
const DESCRIPTORS = '/proc/self/fd';
const CLOSED_ON_EXEC = 0o2000000;

/**
 * Starts a process of the product. Loads the settings first, and prints one clear message if they are
 * invalid.
 */
export async function runProcess(start: (settings: Settings) => Promise<unknown>): Promise<void> {
  let settings: Settings;
  try {
    settings = Settings.load(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return;
  }
  const logger = new JsonLogger(settings.LOG_LEVEL);
  let hasStarted = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      // A hook that never ends must not keep the process alive beyond the orchestrator's timeout.
      if (hasStarted) setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS).unref();
      else exitBySignal(signal);
    });
  }
  await start(settings);
  hasStarted = true;
  process.on('unhandledRejection', (error) => {
    logger.error({ message: 'unhandled rejection', error }, 'Process');
  });
  logger.log({ message: 'started' }, 'Process');
}

/** Ends a process that has not started work, as if it had no signal listeners. */
function exitBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/**
 * Closes the file descriptors that the parent process left open, because every run would inherit them.
 * Descriptors that Node.js opens close automatically when a child process starts.
 */
export function closeInheritedDescriptors(): void {
  if (!existsSync(DESCRIPTORS)) return;
  for (const name of readdirSync(DESCRIPTORS)) {
    if (Number(name) <= 2) continue;
    try {
      const info = readFileSync(`/proc/self/fdinfo/${name}`, 'utf8');
      const flags = parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? '', 8);
      if ((flags & CLOSED_ON_EXEC) === 0) closeSync(Number(name));
    } catch {
      // The descriptor that listed the directory, which is already closed.
    }
  }
}

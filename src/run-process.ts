import { SettingsError } from './config/setting.js';
import { Settings } from './config/settings.js';
import { JsonLogger } from './logging/json-logger.js';

const SHUTDOWN_LIMIT_MS = 24_000;

/** Starts a process of the product: settings first, one clear message when it cannot start. */
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
  await start(settings);
  // A hook that never ends must not keep the process alive past the orchestrator's patience.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS).unref());
  }
  process.on('unhandledRejection', (error) => {
    logger.error({ message: 'unhandled rejection', error }, 'Process');
  });
  logger.log({ message: 'started' }, 'Process');
}

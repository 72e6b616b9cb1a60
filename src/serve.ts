import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { VERSION } from './config/version.js';
import { HttpAdapter } from './common/http/http-adapter.js';
import { buildDocument } from './openapi/document.js';
import { serveExplorer } from './browser/shared/explorer.js';
import { Settings } from './config/settings.js';
import { configureApp } from './configure-app.js';
import { JsonLogger } from './logging/json-logger.js';
import { LogLines } from './logging/log-lines.service.js';

/** Serves the API from this process. */
export async function serve({ LOG_LEVEL, SHUTDOWN_DRAIN_SECONDS }: Settings): Promise<void> {
  const logger = new JsonLogger(LOG_LEVEL);
  const adapter = new HttpAdapter(SHUTDOWN_DRAIN_SECONDS * 1000);
  const app = await NestFactory.create<NestExpressApplication>(AppModule, adapter, {
    bodyParser: false,
    logger,
  });
  configureApp(app);
  app.get(LogLines, { strict: false }).start(logger);
  // Before this line, SIGINT ends the process immediately.
  process.prependOnceListener('SIGINT', () => adapter.skipDrain());
  serveExplorer(app, () => buildDocument(app, VERSION));
  const { HOST, PORT } = app.get(Settings);
  await app.listen(PORT, HOST);
}

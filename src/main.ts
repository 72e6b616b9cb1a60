import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { buildDocument, serveDocument } from './common/openapi/document.js';
import { Settings } from './config/settings.js';
import { configureApp } from './configure-app.js';
import { JsonLogger } from './logging/json-logger.js';
import { VERSION } from './api-root/version.js';
import { runProcess } from './run-process.js';

/** Long enough for a reverse proxy's idle connections, so that it never writes to a closed one. */
const KEEP_ALIVE_MS = 65_000;

await runProcess(async (settings) => {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    bodyParser: false,
    logger: new JsonLogger(settings.LOG_LEVEL),
  });
  configureApp(app);
  serveDocument(app, () => buildDocument(app, VERSION));
  const { HOST, PORT } = app.get(Settings);
  const server = await app.listen(PORT, HOST);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return app;
});

import { NestFactory } from '@nestjs/core';
import { JsonLogger } from './logging/json-logger.js';
import { LogLines } from './logging/log-lines.service.js';
import { closeInheritedDescriptors, runProcess } from './run-process.js';
import { WorkerModule } from './worker.module.js';

closeInheritedDescriptors();
await runProcess(async (settings) => {
  const logger = new JsonLogger(settings.LOG_LEVEL);
  const app = await NestFactory.createApplicationContext(WorkerModule, { logger });
  app.enableShutdownHooks();
  app.get(LogLines, { strict: false }).start(logger);
  logger.log({ message: 'worker ready' }, 'Worker');
});

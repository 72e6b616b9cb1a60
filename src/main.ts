import cluster from 'node:cluster';
import { ProcessGroup } from './common/processes/process-group.js';
import { JsonLogger } from './logging/json-logger.js';
import { runProcess } from './run-process.js';

await runProcess(async (settings) => {
  if (cluster.isPrimary && settings.WEB_CONCURRENCY > 1) {
    new ProcessGroup(settings, new JsonLogger(settings.LOG_LEVEL)).start();
  } else {
    // Imported only here: the process that forks the others does not need the application.
    const { serve } = await import('./serve.js');
    await serve(settings);
  }
});

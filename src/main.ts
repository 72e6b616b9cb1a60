import cluster from 'node:cluster';
import { ProcessGroup } from './common/processes/process-group.js';
import { JsonLogger } from './logging/json-logger.js';
import { runProcess } from './run-process.js';

await runProcess(async (settings) => {
  if (cluster.isPrimary && settings.WEB_CONCURRENCY > 1) {
    new ProcessGroup(settings, new JsonLogger(settings.LOG_LEVEL)).start();
  } else {
    // Only where it is served: the process that forks the others needs none of it.
    const { serve } = await import('./serve.js');
    await serve(settings);
  }
});

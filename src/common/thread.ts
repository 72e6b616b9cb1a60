import { join } from 'node:path';
import { parentPort, Worker, type ResourceLimits } from 'node:worker_threads';
import { PACKAGE_FOLDER } from '../config/version.js';

export interface ThreadOptions {
  /** Path of the thread's program, which calls `performTasks`; see `threadFile`. */
  file: string;
  /** Timeout of one task. */
  timeoutMs: number;
  /** Maximum number of waiting tasks; unlimited by default. */
  maxWaiting?: number;
  resourceLimits: ResourceLimits;
}

/** Error if the maximum number of tasks is waiting. */
export class ThreadBusy extends Error {
  override readonly name = 'ThreadBusy';
}

/** Time after which an idle thread is terminated to free its memory. */
const IDLE_MS = 30_000;

/** Returns the path of the bundle that `npm run build` creates from `<name>.thread.ts`. */
export function threadFile(name: string): string {
  return join(PACKAGE_FOLDER, 'dist', 'threads', `${name}.js`);
}

/** Performs the tasks of a `Thread`. The program of a thread calls this function once. */
export function performTasks<Task, Result>(
  perform: (task: Task) => Result | Promise<Result>,
): void {
  const answer = async (task: Task): Promise<void> => parentPort?.postMessage(await perform(task));
  parentPort?.on('message', (task: Task) => void answer(task));
  parentPort?.postMessage('ready');
}

/**
 * Runs expensive work on client data in a separate thread: the event loop is never blocked, a task is
 * ended at its timeout, memory is limited, and the thread has neither environment variables nor data
 * beyond its task. One warm thread serves all calls in order. The thread is started on first use, replaced
 * after it had to be terminated, and terminated when idle.
 */
export class Thread<Task, Result> {
  private worker: Promise<Worker> | null = null;
  private queue: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: ThreadOptions) {}

  /** @throws Error with the reason why the task was ended; ThreadBusy */
  run(task: Task): Promise<Result> {
    const { maxWaiting = Infinity } = this.options;
    if (this.waiting >= maxWaiting) return Promise.reject(new ThreadBusy());
    this.waiting += 1;
    const result = this.queue.then(() => this.work(task)).finally(() => (this.waiting -= 1));
    this.queue = result.catch(() => undefined);
    return result;
  }

  /** Terminates the thread. A later call starts a new thread. */
  async close(): Promise<void> {
    await this.queue;
    await this.terminate();
  }

  private async work(task: Task): Promise<Result> {
    clearTimeout(this.idle);
    try {
      this.worker ??= start(this.options);
      return await runTask<Task, Result>(await this.worker, task, this.options.timeoutMs);
    } catch (error) {
      await this.terminate();
      throw error;
    } finally {
      this.idle = setTimeout(() => void this.terminate(), IDLE_MS).unref();
    }
  }

  private async terminate(): Promise<void> {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = null;
    await worker?.then((started) => started.terminate()).catch(() => undefined);
  }
}

/**
 * Starts a thread and waits until it has loaded its program, so that its start does not count as work.
 */
function start({ file, resourceLimits }: ThreadOptions): Promise<Worker> {
  const worker = new Worker(file, { env: {}, execArgv: [], resourceLimits });
  return new Promise((resolve, reject) => {
    worker.on('error', reject);
    worker.once('exit', () => reject(new Error('it ended before it was ready')));
    worker.once('message', () => {
      worker.unref();
      resolve(worker);
    });
  });
}

function runTask<Task, Result>(worker: Worker, task: Task, timeoutMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new Error('it takes too long'))), timeoutMs);
    const onMessage = (result: Result): void => settle(() => resolve(result));
    const onExit = (): void => settle(() => reject(new Error('it needs too much memory')));
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('exit', onExit);
      worker.unref();
      finish();
    };
    worker.ref();
    worker.on('message', onMessage).on('exit', onExit);
    worker.postMessage(task);
  });
}

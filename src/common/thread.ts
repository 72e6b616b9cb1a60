import { join } from 'node:path';
import { parentPort, Worker, type ResourceLimits } from 'node:worker_threads';
import { PACKAGE_FOLDER } from '../config/version.js';

export interface ThreadOptions {
  /** Program of the thread, which calls `performTasks`: a path, see `threadFile`. */
  file: string;
  /** Longest time of one task. */
  timeoutMs: number;
  /** Tasks that may wait for their turn; absent: any number. */
  maxWaiting?: number;
  resourceLimits: ResourceLimits;
}

/** So many tasks wait that another would wait for long. */
export class ThreadBusy extends Error {
  override readonly name = 'ThreadBusy';
}

/** How long a thread that nobody needs keeps its memory. */
const IDLE_MS = 30_000;

/** Path of the bundle that `npm run build` makes of `<name>.thread.ts`. */
export function threadFile(name: string): string {
  return join(PACKAGE_FOLDER, 'dist', 'threads', `${name}.js`);
}

/** Answers the tasks of a `Thread`; the program of a thread calls it once. */
export function performTasks<Task, Result>(perform: (task: Task) => Result): void {
  parentPort?.on('message', (task: Task) => parentPort?.postMessage(perform(task)));
  parentPort?.postMessage('ready');
}

/**
 * Does costly work for strangers in a thread of its own: the event loop is never blocked, a task
 * ends after its time whatever it does, memory is capped, and the thread has neither environment
 * variables nor data beyond its task. One warm thread serves all calls in order; it is started by the
 * first, replaced when one had to be ended, and given up when nobody has needed it for a while.
 */
export class Thread<Task, Result> {
  private worker: Promise<Worker> | null = null;
  private queue: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: ThreadOptions) {}

  /** @throws Error that says why the task was ended; ThreadBusy */
  run(task: Task): Promise<Result> {
    const { maxWaiting = Infinity } = this.options;
    if (this.waiting >= maxWaiting) return Promise.reject(new ThreadBusy());
    this.waiting += 1;
    const turn = this.queue.then(() => this.work(task)).finally(() => (this.waiting -= 1));
    this.queue = turn.catch(() => undefined);
    return turn;
  }

  /** Ends the thread; a later call starts a new one. */
  async close(): Promise<void> {
    await this.queue;
    await this.end();
  }

  private async work(task: Task): Promise<Result> {
    clearTimeout(this.idle);
    try {
      this.worker ??= start(this.options);
      return await ask<Task, Result>(await this.worker, task, this.options.timeoutMs);
    } catch (error) {
      await this.end();
      throw error;
    } finally {
      this.idle = setTimeout(() => void this.end(), IDLE_MS).unref();
    }
  }

  private async end(): Promise<void> {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = null;
    await worker?.then((started) => started.terminate()).catch(() => undefined);
  }
}

/** Resolves when the thread has loaded its program, so that its start does not count as work. */
function start({ file, resourceLimits }: ThreadOptions): Promise<Worker> {
  const worker = new Worker(file, { env: {}, execArgv: [], resourceLimits });
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', () => {
      worker.off('error', reject);
      worker.on('error', () => undefined);
      worker.unref();
      resolve(worker);
    });
  });
}

function ask<Task, Result>(worker: Worker, task: Task, timeoutMs: number): Promise<Result> {
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

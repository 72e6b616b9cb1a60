import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { OPEN_PATHS } from './context.js';
import type { MessageContext } from './context.js';
import { SANDBOX_FUNCTIONS } from './sandbox-worker.js';
import type { SandboxLimits, SandboxTask, TemplateInput, TemplateOutput } from './sandbox-task.js';
import { messageOf } from '../../common/errors/message-of.js';

/** Longest template accepted, in UTF-16 units. */
export const MAX_TEMPLATE_LENGTH = 32_768;

const LIMITS: SandboxLimits = {
  maxSteps: 30_000,
  textPerStep: 256,
  maxOutputLength: 262_144,
  maxRange: 10_000,
};

/** Far longer than the steps allowed take: it ends what makes a single step slow. */
const DEFAULT_TIMEOUT_MS = 3_000;

/** How long templates that had to be stopped are not tried again. */
const REST_MS = 60_000;
const MAX_RESTING = 1_000;

const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: 64,
  maxYoungGenerationSizeMb: 8,
  stackSizeMb: 2,
};

const BOOTSTRAP = `
const { parentPort, workerData } = require('node:worker_threads');
const engine = require(workerData.enginePath);
parentPort.on('message', (task) => parentPort.postMessage(renderAll(engine, task)));
parentPort.postMessage('ready');
`;

/**
 * Evaluates message templates in a thread of its own (docs/contract/notifications.md#messages): the
 * event loop is never blocked, an evaluation ends after `timeoutMs` whatever it does, memory is
 * capped, and the thread has neither environment variables nor data beyond the given context. One
 * warm thread serves all calls in order; it is started by the first and replaced when one had to be
 * ended. Templates that had to be stopped rest for a minute, so that one that always takes too long
 * holds nobody up.
 */
export class TemplateSandbox {
  private worker: Promise<Worker> | null = null;
  private queue: Promise<unknown> = Promise.resolve();
  /** Digest of the templates of a call, to why they were stopped and until when they rest. */
  private readonly resting = new Map<string, { reason: string; until: number }>();

  constructor(private readonly timeoutMs = DEFAULT_TIMEOUT_MS) {}

  /** Renders the templates with one context, in order; never throws, faults are in the results. */
  render(
    templates: readonly TemplateInput[],
    context: MessageContext,
  ): Promise<readonly TemplateOutput[]> {
    const turn = this.queue.then(() => this.evaluate(templates, context));
    this.queue = turn;
    return turn;
  }

  /** Ends the thread; a later call starts a new one. */
  async close(): Promise<void> {
    await this.queue;
    const worker = await this.worker?.catch(() => null);
    this.worker = null;
    await worker?.terminate();
  }

  private async evaluate(
    templates: readonly TemplateInput[],
    context: MessageContext,
  ): Promise<readonly TemplateOutput[]> {
    const failAll = (reason: string): TemplateOutput[] =>
      templates.map(() => ({ fault: 'limit', reason }));
    if (templates.some(({ template }) => template.length > MAX_TEMPLATE_LENGTH)) {
      return failAll(`it is longer than ${MAX_TEMPLATE_LENGTH} characters`);
    }
    const digest = digestOf(templates);
    const rest = this.resting.get(digest);
    if (rest && rest.until > Date.now()) return failAll(rest.reason);
    const task: SandboxTask = { templates, context, limits: LIMITS, openPaths: OPEN_PATHS };
    try {
      this.worker ??= startWorker();
      return await ask(await this.worker, task, this.timeoutMs);
    } catch (error) {
      const worker = this.worker;
      this.worker = null;
      await worker?.then((started) => started.terminate()).catch(() => undefined);
      const reason = messageOf(error);
      this.rest(digest, reason);
      return failAll(reason);
    }
  }

  private rest(digest: string, reason: string): void {
    this.resting.delete(digest);
    this.resting.set(digest, { reason, until: Date.now() + REST_MS });
    const [oldest] = this.resting.keys();
    if (this.resting.size > MAX_RESTING && oldest !== undefined) this.resting.delete(oldest);
  }
}

function digestOf(templates: readonly TemplateInput[]): string {
  const texts = JSON.stringify(templates.map(({ template }) => template));
  return createHash('sha256').update(texts).digest('base64');
}

/** Resolves when the thread has loaded the engine, so that its start does not count as rendering. */
function startWorker(): Promise<Worker> {
  const enginePath = createRequire(import.meta.url).resolve('@huggingface/jinja');
  const source = `'use strict';\n${SANDBOX_FUNCTIONS.map(String).join('\n')}\n${BOOTSTRAP}`;
  const worker = new Worker(source, {
    eval: true,
    env: {},
    execArgv: [],
    workerData: { enginePath },
    resourceLimits: RESOURCE_LIMITS,
  });
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

function ask(worker: Worker, task: SandboxTask, timeoutMs: number): Promise<TemplateOutput[]> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new Error('it takes too long'))), timeoutMs);
    const onMessage = (outputs: TemplateOutput[]): void => settle(() => resolve(outputs));
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

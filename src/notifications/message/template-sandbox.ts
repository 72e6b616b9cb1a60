import { createHash } from 'node:crypto';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Thread, threadFile } from '../../common/thread.js';
import { OPEN_PATHS, type MessageContext } from './context.js';
import { MAX_TEXT_LENGTH } from './jinja-values.js';
import type { SandboxLimits, SandboxTask, TemplateInput, TemplateOutput } from './sandbox-task.js';
import { messageOf } from '../../common/errors/errors.js';

/** Maximum length of a template, in UTF-16 units. */
export const MAX_TEMPLATE_LENGTH = 16_384;

const LIMITS: SandboxLimits = {
  maxTemplateLength: MAX_TEMPLATE_LENGTH,
  maxSteps: 30_000,
  textPerStep: 256,
  // An item takes 8 bytes in the copy of a list, and up to 400 bytes if it is new or iterated over. Thus
  // all steps fit into the memory of the thread: an allocation beyond it can abort the whole process.
  itemsPerStep: 64,
  newItemsPerStep: 4,
  maxOutputLength: MAX_TEXT_LENGTH,
  maxRange: 10_000,
};

/**
 * Timeout in ms. Templates within the step limit finish far earlier; the timeout stops a single slow
 * step.
 */
const DEFAULT_TIMEOUT_MS = 3_000;

/** Time for which a stopped template is blocked, in ms. */
const BLOCK_MS = 60_000;
const MAX_BLOCKED = 1_000;

const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: 64,
  maxYoungGenerationSizeMb: 8,
  stackSizeMb: 2,
};

/**
 * Evaluates message templates in a separate thread (docs/contract/notifications.md#messages), in
 * the order of the calls. Templates that were stopped are blocked for a minute, so that a template
 * that always takes too long does not delay others.
 */
export class TemplateSandbox implements OnApplicationShutdown {
  private readonly thread: Thread<SandboxTask, TemplateOutput[]>;
  private queue: Promise<unknown> = Promise.resolve();
  /**
   * Blocked calls by the digest of their templates, with the reason and the end of the block.
   */
  private readonly blocked = new Map<string, { reason: string; until: number }>();

  constructor(timeoutMs = DEFAULT_TIMEOUT_MS) {
    this.thread = new Thread({
      file: threadFile('template'),
      timeoutMs,
      resourceLimits: RESOURCE_LIMITS,
    });
  }

  /** Renders the templates with one context, in order. Never rejects: a result can be an error. */
  render(
    templates: readonly TemplateInput[],
    context: MessageContext,
  ): Promise<readonly TemplateOutput[]> {
    const result = this.queue.then(() => this.evaluate(templates, context));
    this.queue = result;
    return result;
  }

  /** Terminates the thread; a later call starts a new thread. */
  async onApplicationShutdown(): Promise<void> {
    await this.queue;
    await this.thread.close();
  }

  private async evaluate(
    templates: readonly TemplateInput[],
    context: MessageContext,
  ): Promise<readonly TemplateOutput[]> {
    const failAll = (reason: string): TemplateOutput[] =>
      templates.map(() => ({ fault: 'limit', reason }));
    const digest = digestOf(templates);
    const block = this.blocked.get(digest);
    if (block && block.until > Date.now()) return failAll(block.reason);
    const task: SandboxTask = { templates, context, limits: LIMITS, openPaths: OPEN_PATHS };
    try {
      return await this.thread.run(task);
    } catch (error) {
      const reason = messageOf(error);
      this.block(digest, reason);
      return failAll(reason);
    }
  }

  private block(digest: string, reason: string): void {
    this.blocked.delete(digest);
    this.blocked.set(digest, { reason, until: Date.now() + BLOCK_MS });
    const [oldest] = this.blocked.keys();
    if (this.blocked.size > MAX_BLOCKED && oldest !== undefined) this.blocked.delete(oldest);
  }
}

function digestOf(templates: readonly TemplateInput[]): string {
  const texts = JSON.stringify(templates.map(({ template }) => template));
  return createHash('sha256').update(texts).digest('base64');
}

import { watchFolder } from './folder-watch.js';

/** Reason why a command was ended early. */
export type EarlyEnd = 'canceled' | 'timeout' | 'full';

export interface ShellLimits {
  /** Time of `performance.now()` at which the command is ended; `Infinity`: no deadline. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  readonly folder: string;
  /** Maximum size of the folder, in bytes; unlimited if absent. */
  readonly maxFolderBytes?: number | undefined;
}

/** Maximum delay of a Node timer, in ms; a timer with a longer delay would fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `stop` when a limit is reached. */
export class LimitWatch {
  /** The limit that was reached first. */
  reached: EarlyEnd | null = null;
  private readonly cleanups: (() => void)[] = [];

  constructor(
    { deadline, signal, folder, maxFolderBytes = Infinity }: ShellLimits,
    stop: () => void,
  ) {
    const end = (reason: EarlyEnd) => (): void => {
      this.reached ??= reason;
      stop();
    };
    const cancel = end('canceled');
    if (Number.isFinite(deadline)) {
      const remaining = Math.max(deadline - performance.now(), 0);
      const timer = setTimeout(end('timeout'), Math.min(remaining, MAX_TIMER_MS));
      this.cleanups.push(() => clearTimeout(timer));
    }
    signal?.addEventListener('abort', cancel, { once: true });
    this.cleanups.push(() => signal?.removeEventListener('abort', cancel));
    if (signal?.aborted) cancel();
    this.cleanups.push(watchFolder(folder, maxFolderBytes, end('full')));
  }

  release(): void {
    for (const cleanup of this.cleanups) cleanup();
  }
}

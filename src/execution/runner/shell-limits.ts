import { watchFolder } from './folder-watch.js';

/** Why a command was ended before its time. */
export type EarlyEnd = 'canceled' | 'timeout' | 'full';

/** What ends a command. */
export interface ShellLimits {
  /** In ms, as `Date.now` counts; `Infinity`: none. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  readonly folder: string;
  /** What the folder may hold, in bytes; no limit when absent. */
  readonly maxFolderBytes?: number | undefined;
}

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `stop` when one of the limits is reached. */
export class LimitWatch {
  /** The first limit that was reached. */
  reached: EarlyEnd | null = null;
  private readonly ends: (() => void)[] = [];

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
      const left = Math.max(deadline - Date.now(), 0);
      const timer = setTimeout(end('timeout'), Math.min(left, MAX_TIMER_MS));
      this.ends.push(() => clearTimeout(timer));
    }
    signal?.addEventListener('abort', cancel, { once: true });
    this.ends.push(() => signal?.removeEventListener('abort', cancel));
    if (signal?.aborted) cancel();
    this.ends.push(watchFolder(folder, maxFolderBytes, end('full')));
  }

  /** Ends the watch. */
  release(): void {
    for (const end of this.ends) end();
  }
}

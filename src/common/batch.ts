import { zip } from './invariants.js';

/** Default maximum number of calls in a batch. */
const MAX = 100;
/** Time in ms after which a running batch no longer delays the next batch. */
const MAX_WAIT_MS = 50;

interface Waiting<Key, Result> {
  readonly key: Key;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines concurrent calls: calls that arrive during a batch go into the next batch, so that a busy
 * process needs few statements and a single call does not wait. Not for work inside a transaction,
 * because a batch would combine it with work of other transactions.
 */
export class Batch<Key, Result> {
  private waiting: Waiting<Key, Result>[] = [];
  private isIdle = true;

  /**
   * @param work returns one result for each key, in the same order
   * @param max maximum number of keys in a batch
   */
  constructor(
    private readonly work: (keys: readonly Key[]) => Promise<readonly Result[]>,
    private readonly max = MAX,
  ) {}

  run(key: Key): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      if (this.waiting.length === 1) setImmediate(() => this.next());
    });
  }

  private next(): void {
    if (!this.isIdle || this.waiting.length === 0) return;
    this.isIdle = false;
    const batch = this.waiting.splice(0, this.max);
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.isIdle = true;
      this.next();
    };
    const timer = setTimeout(release, MAX_WAIT_MS);
    void this.settle(batch).finally(() => {
      clearTimeout(timer);
      release();
    });
  }

  /**
   * Settles a batch. After a failure, repeats each call alone, so that one bad call does not fail the
   * others.
   */
  private async settle(batch: readonly Waiting<Key, Result>[]): Promise<void> {
    try {
      const results = await this.work(batch.map(({ key }) => key));
      for (const [{ resolve }, result] of zip(batch, results)) resolve(result);
    } catch (error) {
      const [first, ...others] = batch;
      if (others.length === 0) first?.reject(error);
      else await Promise.all(batch.map((call) => this.settle([call])));
    }
  }
}

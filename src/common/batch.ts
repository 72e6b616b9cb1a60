import { zip } from './invariants.js';

/** Calls taken together at most, unless a batch says otherwise. */
const MOST = 100;
/** A batch that takes longer than this, in ms, no longer holds up the next one. */
const PATIENCE_MS = 50;

interface Waiting<Key, Result> {
  readonly key: Key;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes one call of many that come at once: what is asked for while a batch is under way goes into
 * the next, so that busy times need few statements and a single call does not wait. Not for work
 * inside a transaction, which a batch would take along with that of others.
 */
export class Batch<Key, Result> {
  private waiting: Waiting<Key, Result>[] = [];
  private isFree = true;

  /**
   * @param work one result for each key, in their order
   * @param most keys taken together
   */
  constructor(
    private readonly work: (keys: readonly Key[]) => Promise<readonly Result[]>,
    private readonly most = MOST,
  ) {}

  run(key: Key): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      if (this.waiting.length === 1) setImmediate(() => this.next());
    });
  }

  private next(): void {
    if (!this.isFree || this.waiting.length === 0) return;
    this.isFree = false;
    const taken = this.waiting.splice(0, this.most);
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.isFree = true;
      this.next();
    };
    const timer = setTimeout(release, PATIENCE_MS);
    void this.settle(taken).finally(() => {
      clearTimeout(timer);
      release();
    });
  }

  /** One call that cannot be served must not take the others with it. */
  private async settle(taken: readonly Waiting<Key, Result>[]): Promise<void> {
    try {
      const results = await this.work(taken.map(({ key }) => key));
      for (const [{ resolve }, result] of zip(taken, results)) resolve(result);
    } catch (error) {
      const [first, ...others] = taken;
      if (others.length === 0) first?.reject(error);
      else await Promise.all(taken.map((one) => this.settle([one])));
    }
  }
}

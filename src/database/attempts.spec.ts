import { withRetries, outsideTransaction } from './attempts.js';

describe('slow work in a transaction', () => {
  it('runs between attempts, each piece once', async () => {
    const log: string[] = [];
    let isOpen = false;
    const slowly = (result: string) => () => {
      log.push(`${result} ${isOpen ? 'inside' : 'outside'}`);
      return Promise.resolve({ result });
    };
    const hashes = await withRetries(async () => {
      isOpen = true;
      try {
        return [await outsideTransaction(slowly('one')), await outsideTransaction(slowly('two'))];
      } finally {
        isOpen = false;
      }
    });
    expect(hashes).toEqual([{ result: 'one' }, { result: 'two' }]);
    expect(log).toEqual(['one outside', 'two outside']);
  });

  it('keeps its result when the transaction is retried for another reason', async () => {
    const work = jest.fn(() => Promise.resolve({ hash: 1 }));
    let tries = 0;
    const result = await withRetries(async () => {
      const hash = await outsideTransaction(work);
      tries += 1;
      if (tries === 1) throw Object.assign(new Error('deadlock'), { code: '40P01' });
      return hash;
    });
    expect([result, tries, work.mock.calls.length]).toEqual([{ hash: 1 }, 2, 1]);
  });

  it('runs immediately without a transaction', async () => {
    expect(await outsideTransaction(() => Promise.resolve({ hash: 1 }))).toEqual({ hash: 1 });
  });
});

import { Lanes } from './lanes.js';

/** Creates work that runs until `end` is called. */
function blockedWork(): { work: () => Promise<void>; end: () => void; started: () => boolean } {
  let end: () => void = () => undefined;
  let started = false;
  const done = new Promise<void>((resolve) => (end = resolve));
  const work = async (): Promise<void> => {
    started = true;
    await done;
  };
  return { work, end: () => end(), started: () => started };
}

describe('Lanes', () => {
  it('runs as many tasks as fit and queues the others of the same lane', async () => {
    const lanes = new Lanes(1, 10);
    const [first, second, other] = [blockedWork(), blockedWork(), blockedWork()];
    const running = lanes.enter('a', 1, first.work);
    expect(await lanes.enter('a', 2, second.work)).toBe('queued');
    const beside = lanes.enter('b', 3, other.work);
    expect([first.started(), second.started(), other.started()]).toEqual([true, false, true]);
    other.end();
    expect(await beside).toBe('ran');
    first.end();
    expect(await running).toBe('ran');
    expect(second.started()).toBe(true);
    second.end();
    await lanes.idle();
  });

  it('recognizes a queued task, and refuses tasks when the queue is full', async () => {
    const lanes = new Lanes(1, 2);
    const [first, second] = [blockedWork(), blockedWork()];
    void lanes.enter('a', 1, first.work);
    await lanes.enter('a', 2, second.work);
    expect(await lanes.enter('a', 2, second.work)).toBe('duplicate');
    expect(await lanes.enter('b', 3, second.work)).toBe('full');
    first.end();
    second.end();
    await lanes.idle();
    expect(await lanes.enter('a', 2, async () => undefined)).toBe('ran');
  });

  it('drops queued tasks when it closes, and waits for running ones', async () => {
    const lanes = new Lanes(1, 10);
    const [first, second] = [blockedWork(), blockedWork()];
    void lanes.enter('a', 1, first.work);
    await lanes.enter('a', 2, second.work);
    lanes.close();
    expect(await lanes.enter('a', 3, second.work)).toBe('full');
    first.end();
    await lanes.idle();
    expect(second.started()).toBe(false);
  });
});

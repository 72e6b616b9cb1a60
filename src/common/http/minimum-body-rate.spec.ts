/**
 * Replaces the clock.
 *
 * @jest-environment node
 */
import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import { MinimumBodyRate } from './minimum-body-rate.js';

/** The members of a request that the check uses: received bytes, unread bytes, and the written response. */
class Sender extends EventEmitter {
  readonly headers = { 'transfer-encoding': 'chunked' };
  readonly complete = false;
  readonly socket = { bytesRead: 5000, end: jest.fn<(text: string) => void>() };
  readonly destroy = jest.fn();
  readableLength = 0;
}

describe('the minimum rate of a request body', () => {
  let minimumRate: MinimumBodyRate;
  beforeEach(() => {
    jest.useFakeTimers();
    minimumRate = new MinimumBodyRate();
  });
  afterEach(() => jest.useRealTimers());

  const start = (response: object = { headersSent: false }): Sender => {
    const sender = new Sender();
    minimumRate.handle(sender as never, response as never, () => undefined);
    return sender;
  };
  /** Advances the clock by seconds, in each of which `bytes` arrive. */
  const pass = (sender: Sender, seconds: number, bytes: number): void => {
    for (let second = 0; second < seconds; second++) {
      sender.socket.bytesRead += bytes;
      jest.advanceTimersByTime(1000);
    }
  };

  it('applies after a grace period', () => {
    const sender = start();
    pass(sender, 10, 0);
    expect(sender.destroy).not.toHaveBeenCalled();
    pass(sender, 1, 0);
    expect(sender.destroy).toHaveBeenCalled();
    expect(sender.socket.end.mock.calls[0]?.[0]).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('is an average over all bytes, not over the last second', () => {
    const sender = start();
    pass(sender, 1, 60_000);
    pass(sender, 50, 0);
    expect(sender.destroy).not.toHaveBeenCalled();
    pass(sender, 20, 0);
    expect(sender.destroy).toHaveBeenCalled();
  });

  it('does not apply while the server does not read', () => {
    const sender = start();
    sender.readableLength = 65_536;
    pass(sender, 1000, 0);
    expect(sender.destroy).not.toHaveBeenCalled();
  });

  it('does not apply after the body is complete', () => {
    const sender = start();
    sender.emit('end');
    pass(sender, 100, 0);
    expect(sender.destroy).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('applies to the rest of a body after the response', () => {
    const sender = start({ headersSent: true, writableFinished: true });
    sender.readableLength = 65_536;
    pass(sender, 11, 0);
    expect(sender.destroy).toHaveBeenCalled();
  });

  it('does not cause a second response', () => {
    const sender = start({ headersSent: true });
    pass(sender, 11, 100);
    expect(sender.destroy).toHaveBeenCalled();
    expect(sender.socket.end).not.toHaveBeenCalled();
  });
});

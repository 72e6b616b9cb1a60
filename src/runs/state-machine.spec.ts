import { zip } from '../common/invariants.js';
import {
  ACTIVE_STATUSES,
  assertMoves,
  FINAL_STATUSES,
  isFailed,
  isFinal,
  mayMove,
} from './state-machine.js';
import { JOB_STATUSES } from './unified-job.entity.js';

describe('the state machine of runs', () => {
  it('classifies every status as active or final, never both', () => {
    expect([...ACTIVE_STATUSES, ...FINAL_STATUSES].sort()).toEqual([...JOB_STATUSES].sort());
  });

  it('permits no transition from a final status', () => {
    for (const from of FINAL_STATUSES) {
      expect(isFinal(from)).toBe(true);
      for (const to of JOB_STATUSES) expect(mayMove(from, to)).toBe(false);
    }
  });

  it('permits to cancel every active status', () => {
    for (const from of ACTIVE_STATUSES) expect(mayMove(from, 'canceled')).toBe(true);
  });

  it('permits one step at a time from launch to end', () => {
    const way = ['new', 'pending', 'waiting', 'running', 'successful'] as const;
    for (const [from, to] of zip(way.slice(0, -1), way.slice(1))) {
      expect(mayMove(from, to)).toBe(true);
      expect(mayMove(to, from)).toBe(to === 'waiting');
    }
    // A run that the worker could not start returns to the queue.
    expect(mayMove('running', 'pending')).toBe(true);
  });

  it('names the transition that it refuses', () => {
    expect(() => assertMoves(['waiting', 'successful'], 'running')).toThrow(
      'A run does not go from successful to running',
    );
    expect(() => assertMoves([], 'running')).toThrow();
    expect(() => assertMoves(['waiting'], 'running')).not.toThrow();
  });

  it.each([
    ['successful', false],
    ['failed', true],
    ['error', true],
    ['canceled', true],
    ['running', false],
  ] as const)('%s counts as failed: %s', (status, failed) => {
    expect(isFailed(status)).toBe(failed);
  });
});

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
  it('knows every status as active or final, never both', () => {
    expect([...ACTIVE_STATUSES, ...FINAL_STATUSES].sort()).toEqual([...JOB_STATUSES].sort());
  });

  it('leaves no final status', () => {
    for (const from of FINAL_STATUSES) {
      expect(isFinal(from)).toBe(true);
      for (const to of JOB_STATUSES) expect(mayMove(from, to)).toBe(false);
    }
  });

  it('lets every active status be canceled', () => {
    for (const from of ACTIVE_STATUSES) expect(mayMove(from, 'canceled')).toBe(true);
  });

  it('goes from launch to end one step at a time', () => {
    const way = ['new', 'pending', 'waiting', 'running', 'successful'] as const;
    for (const [from, to] of zip(way.slice(0, -1), way.slice(1))) {
      expect(mayMove(from, to)).toBe(true);
      expect(mayMove(to, from)).toBe(to === 'waiting');
    }
    // A run that was not started is placed again.
    expect(mayMove('running', 'pending')).toBe(true);
  });

  it('refuses a step nobody may take, by name', () => {
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

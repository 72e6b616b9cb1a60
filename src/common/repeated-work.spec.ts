import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Repeated } from './repeated-work.js';

const logger = new Logger('Spec');
let lines: unknown[];
beforeEach(() => {
  lines = [];
  jest.spyOn(logger, 'warn').mockImplementation((line: unknown) => void lines.push(line));
});

it('a repeated task starts again after its end, and stops after its end', async () => {
  const seen: string[] = [];
  const repeated = new Repeated(
    async () => {
      seen.push('begin');
      await sleep(20);
      seen.push('end');
    },
    { everyMs: 1, logger, failure: 'failed' },
  );
  repeated.start();
  while (seen.length < 3) await sleep(1);
  await repeated.stop();
  expect(repeated.isStopped).toBe(true);
  expect(seen).toEqual(['begin', 'end', 'begin', 'end']);
  await sleep(10);
  repeated.start();
  await sleep(10);
  expect(seen).toHaveLength(4);
});

it('a repeated task continues after failures with longer delays, and logs the first failure', async () => {
  const times: number[] = [];
  const outcomes = [false, false, false, true, false];
  const repeated = new Repeated(
    async () => {
      const isWell = outcomes[times.push(performance.now()) - 1];
      if (!isWell) throw new Error('away');
    },
    { everyMs: 10, maxMs: 40, logger, failure: 'not sent' },
  );
  repeated.start();
  while (times.length < outcomes.length) await sleep(1);
  await repeated.stop();
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  [20, 40, 40, 10].forEach((least, index) => {
    expect(gaps[index]).toBeGreaterThan(least - 2);
  });
  const line = { message: 'not sent', reason: 'away' };
  expect(lines).toEqual([line, line]);
});

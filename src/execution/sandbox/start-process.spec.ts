import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from './start-process.js';

/** Limits the open files of this process: the soft limit, which can be raised again. */
const limitFiles = (count: number | string): void => {
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${count}:`]);
};

it('a process that cannot be started without a free descriptor is an error, not the end of this process', async () => {
  const count = readdirSync('/proc/self/fd').length;
  const before = execFileSync('sh', ['-c', 'ulimit -Sn'], { encoding: 'utf8' }).trim();
  const opened: number[] = [];
  const start = () => startProcess('true', [], { stdio: ['ignore', 'pipe', 'pipe'] });
  limitFiles(count + 60);
  try {
    expect(() => {
      for (;;) opened.push(openSync('/dev/null', 'r'));
    }).toThrow('EMFILE');
    expect(start).toThrow('no file descriptor is free');
    // Node reports its error in a later turn.
    await sleep(20);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
    limitFiles(before);
  }
  expect(start).not.toThrow();
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { run } from './run.mjs';

describe('a command with a background process that keeps its output open', () => {
  /** @type {string} */
  let folder;
  /** @type {string} */
  let log;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'run-'));
    log = join(folder, 'run.log');
  });
  afterEach(() => {
    process.kill(Number(readFileSync(log, 'utf8')), 'SIGKILL');
    rmSync(folder, { recursive: true });
  });

  it('ends when the command itself ends', async () => {
    const { code, stdout } = await run('sh', ['-c', 'sleep 60 & echo $!'], { log });
    expect([code, stdout]).toEqual([0, readFileSync(log, 'utf8')]);
  }, 20_000);

  it('ends at its time limit', async () => {
    const running = run('sh', ['-c', 'sleep 60 & echo $!; wait'], { log, timeoutMs: 300 });
    await expect(running).rejects.toThrow('sh took longer than 0.3 s');
  }, 20_000);
});

/** Costs three seconds: it starts PostgreSQL, Redis and a runner of tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

it('test:watch runs the given tests, and waits for changes until it is interrupted', async () => {
  const { PATH, HOME, TMPDIR } = process.env;
  const watching = spawn('npm', ['run', 'test:watch', '--', 'src/common/batch'], {
    cwd: resolve(import.meta.dirname, '..'),
    env: { PATH, HOME, TMPDIR },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const end = once(watching, 'close');
  let printed = '';
  for (const stream of [watching.stdout, watching.stderr]) {
    stream.on('data', (text) => {
      printed += text;
      if (printed.includes('Waiting for changes')) process.kill(-Number(watching.pid), 'SIGINT');
    });
  }
  await end;
  expect(printed).toMatch(/PASS .*src\/common\/batch\.spec\.ts[^]*Waiting for changes/);
}, 60_000);

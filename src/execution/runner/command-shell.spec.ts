import { tmpdir } from 'node:os';
import { directLaunch } from '../sandbox/command.js';
import { BoundedText } from './bounded-text.js';
import { CommandShell, MAX_PRINTED } from './command-shell.js';

const environment = { PATH: process.env.PATH ?? '' };
const cwd = tmpdir();
const start = (): CommandShell =>
  CommandShell.start(directLaunch({ file: 'sh', args: [], environment, cwd }));

async function run(shell: CommandShell, script: string): Promise<[number | null, string, string]> {
  const [out, err] = [new BoundedText(MAX_PRINTED), new BoundedText(MAX_PRINTED)];
  const listener = {
    onStdout: (text: string) => out.add(text),
    onStderr: (text: string) => err.add(text),
  };
  const command = { file: 'sh', args: ['-c', script], environment: {}, cwd };
  return [await shell.run(command, listener), out.text, err.text];
}

it('a command shell returns the output and exit code of each command', async () => {
  const shell = start();
  expect(await run(shell, 'echo out; echo err >&2; exit 3')).toEqual([3, 'out\n', 'err\n']);
  expect(await run(shell, 'echo again')).toEqual([0, 'again\n', '']);
  await shell.close();
});

it.each(['', '>&2'])('a command shell terminates a command with endless output %s', async (to) => {
  const shell = start();
  const [code, out, err] = await run(shell, `exec yes ${to}`);
  expect(code).toBeNull();
  expect(shell.exceededOutputLimit).toBe(true);
  expect(out.length + err.length).toBeLessThanOrEqual(MAX_PRINTED);
  await shell.close();
});

it('a command shell closes although a program has left its process group with its output', async () => {
  const shell = start();
  const [code, pid] = await run(shell, "setsid sh -c 'echo $$; exec sleep 60' & sleep 0.3");
  try {
    expect(code).toBe(0);
    await shell.close();
    expect(process.kill(Number(pid), 0)).toBe(true);
  } finally {
    process.kill(Number(pid), 'SIGKILL');
  }
}, 20_000);

it('a command shell permits as much output as the limit', async () => {
  const shell = start();
  const [code, out] = await run(shell, `head -c ${MAX_PRINTED} /dev/zero | tr '\\0' x`);
  expect([code, out.length, shell.exceededOutputLimit]).toEqual([0, MAX_PRINTED, false]);
  await shell.close();
});

import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** Python with the collections of the distribution. */
export const PYTHON_OF_SYSTEM = '/usr/bin/python3';

/** Returns the Python that runs Ansible, which has PyYAML. */
function python(): string {
  const path = execFileSync('sh', ['-c', 'command -v ansible-playbook'], { encoding: 'utf8' });
  return /^#!\s*(\S*python\S*)/.exec(readFileSync(path.trim(), 'utf8'))?.[1] ?? 'python3';
}

const OPTIONS = { encoding: 'utf8', maxBuffer: 1e9 } as const;
const inputOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Runs a program that reads lines and prints a line for each, in one process. */
export function linesOfPython(
  program: string,
  lines: readonly string[],
  interpreter = python(),
): string[] {
  const options = { input: inputOf(lines), ...OPTIONS };
  return execFileSync(interpreter, ['-c', program], options).trimEnd().split('\n');
}

/** Like {@link linesOfPython}, for a program that sends requests to an API of this process. */
export async function linesOfPythonAside(
  program: string,
  lines: readonly string[],
  interpreter: string,
): Promise<string[]> {
  const running = promisify(execFile)(interpreter, ['-c', program], OPTIONS);
  running.child.stdin?.end(inputOf(lines));
  return (await running).stdout.trimEnd().split('\n');
}

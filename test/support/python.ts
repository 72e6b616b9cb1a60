import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Python with the collections of the distribution. */
export const PYTHON_OF_SYSTEM = '/usr/bin/python3';

/** Returns the Python that runs Ansible, which has PyYAML. */
function python(): string {
  const path = execFileSync('sh', ['-c', 'command -v ansible-playbook'], { encoding: 'utf8' });
  return /^#!\s*(\S*python\S*)/.exec(readFileSync(path.trim(), 'utf8'))?.[1] ?? 'python3';
}

/** Runs a program that reads lines and prints a line for each, in one process. */
export function linesOfPython(
  program: string,
  lines: readonly string[],
  interpreter = python(),
): string[] {
  const input = lines.map((line) => `${line}\n`).join('');
  const options = { input, encoding: 'utf8', maxBuffer: 1e9 } as const;
  return execFileSync(interpreter, ['-c', program], options).trimEnd().split('\n');
}

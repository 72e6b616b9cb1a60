import { execFileSync } from 'node:child_process';

/** Turns a folder into a git repository with one commit of all its files. @param {string} folder */
export function commitAll(folder) {
  const author = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.org'];
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...author, 'commit', '-qm', 'one'],
  ]) {
    execFileSync('git', args, { cwd: folder });
  }
}

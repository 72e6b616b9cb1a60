import { execFileSync } from 'node:child_process';

/** Makes a folder a git repository with one commit of all that is in it. @param {string} folder */
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

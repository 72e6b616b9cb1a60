import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A stand-in for `ansible-runner`, for tests with many jobs: a real one costs a second of processor
 * time. It writes the id of its job to a file, prints the events of a playbook on one host and
 * leaves the verdict the real one leaves. What counts in these tests, that a job runs once and comes
 * to its end, is the same with both.
 *
 * @param seconds how long a playbook takes
 * @returns the folder to put in front of PATH
 */
export async function writeFakeRunner(
  folder: string,
  ledger: string,
  seconds: number,
): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  const path = join(bin, 'ansible-runner');
  await writeFile(path, script(ledger, seconds));
  await chmod(path, 0o755);
  return bin;
}

const UUID = '00000000-0000-4000-8000-00000000000';

const event = (counter: number, name: string, parent: number, data: object): string =>
  JSON.stringify({
    uuid: `${UUID}${counter}`,
    parent_uuid: parent === 0 ? '' : `${UUID}${parent}`,
    counter,
    event: name,
    stdout: name,
    start_line: counter - 1,
    end_line: counter,
    created: '2026-01-01T00:00:00',
    event_data: data,
  });

function script(ledger: string, seconds: number): string {
  const task = { play: 'all', task: 'note' };
  const stats = { ok: { localhost: 1 }, changed: { localhost: 1 }, processed: { localhost: 1 } };
  const events = [
    event(1, 'playbook_on_start', 0, {}),
    event(2, 'playbook_on_play_start', 1, { play: 'all' }),
    event(3, 'playbook_on_task_start', 2, task),
    event(4, 'runner_on_ok', 3, { ...task, host: 'localhost', res: { changed: true } }),
    event(5, 'playbook_on_stats', 1, stats),
  ];
  return `#!/bin/sh
[ "$1" = --version ] && echo 2.4 && exit
echo "\${AUTOMATION_CONTROLLER_RUN%%:*}" >> '${ledger}'
for workspace; do :; done
sleep ${seconds}
cat <<'EVENTS'
${events.join('\n')}
EVENTS
mkdir -p "$workspace/artifacts/run"
echo successful > "$workspace/artifacts/run/status"
`;
}

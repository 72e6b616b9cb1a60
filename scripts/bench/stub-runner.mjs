import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const INSTANT_SCRIPT = `#!/bin/sh
for folder; do :; done
mkdir -p "$folder/artifacts/run"
echo successful > "$folder/artifacts/run/status"
`;

/**
 * Prints `perSecond` events per second, each with the time of its creation, and then ends.
 *
 * @param {number} count
 * @param {number} perSecond
 */
const eventsScript = (count, perSecond) => `#!${process.execPath}
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv.at(-1);
const write = (text) =>
  new Promise((resolve) => (process.stdout.write(text) ? resolve() : process.stdout.once('drain', resolve)));
const event = (counter) => JSON.stringify({
  uuid: 'event-' + counter,
  counter,
  event: 'runner_on_ok',
  stdout: 'ok: [localhost]',
  start_line: counter,
  end_line: counter + 1,
  created: new Date().toISOString(),
  event_data: { playbook: 'hello_world.yml', play: 'Hello', task: 'Say hello', host: 'localhost', res: { changed: false, msg: 'Hello World!', invocation: { module_args: { msg: 'Hello World!' } } } },
}) + '\\n';
const started = Date.now();
for (let counter = 0; counter < ${count}; ) {
  const due = Math.min(${count}, Math.ceil(((Date.now() - started) / 1000) * ${perSecond}));
  let text = '';
  for (let some = 0; counter < due && some < 500; some++) text += event(++counter);
  if (text === '') await new Promise((resolve) => setTimeout(resolve, 5));
  else await write(text);
}
mkdirSync(join(folder, 'artifacts', 'run'), { recursive: true });
writeFileSync(join(folder, 'artifacts', 'run', 'status'), 'successful');
`;

/**
 * Returns settings with an `ansible-runner` that ends immediately, so that only the surrounding work is
 * measured.
 *
 * @param {NodeJS.ProcessEnv} environment
 */
export const withInstantRunner = (environment) => install(environment, INSTANT_SCRIPT);

/**
 * Returns settings with an `ansible-runner` that prints `count` events, `perSecond` in each second.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @param {number} count
 * @param {number} perSecond
 */
export const withPrintingRunner = (environment, count, perSecond) =>
  install(environment, eventsScript(count, perSecond));

/**
 * Installs the script outside of the data folder, which runs cannot read.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @param {string} script
 */
function install(environment, script) {
  const folder = join(environment.TMPDIR ?? tmpdir(), 'bench-bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'ansible-runner'), script, { mode: 0o755 });
  const PATH = [folder, process.env.PATH].join(delimiter);
  return { ...environment, PATH, JOB_SHOW_PATHS: folder };
}

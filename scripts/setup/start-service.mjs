import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { lastLogLine, Problem, reportFailure } from '../console/problem.mjs';
import { note, print, step } from '../console/progress.mjs';
import { tryLock } from '../processes/lock.mjs';
import { endRunningCommands } from '../processes/run.mjs';
import { Supervisor, trimLog } from '../processes/supervise.mjs';
import { buildWhenNeeded, installPackages } from '../services/packages.mjs';
import { bindError, freePort } from '../services/ports.mjs';
import { provideTools } from '../services/tools.mjs';
import { printBanner } from './banner.mjs';
import {
  dataFiles,
  endLeftovers,
  createDataFolder,
  displayPath,
  writeEnvironment,
  writeProcesses,
} from './data-folder.mjs';
import { startDatastores } from './datastores.mjs';
import { setUpDatabase } from './first-run.mjs';
import { startPrograms } from './programs.mjs';
import { serviceEnvironment } from './service-environment.mjs';
import { browserUrl, readSettings } from './settings.mjs';
import { provideUnprivileged } from './unprivileged.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const SERVICES = ['api', 'worker'];
const STOP_GROUPS = [SERVICES, ['redis', 'postgres']];
const LOG_NAMES = ['api', 'worker', 'redis', 'postgres', 'set-up'];
const LOG_CHECK_MS = 60_000;

/** Executes `npm start`. Ends this process when the service stops or fails to start. */
export async function startService() {
  try {
    await run(new Service(readSettings(ROOT)));
  } catch (error) {
    reportFailure(error);
    process.exit(1);
  }
}

/** @param {Service} service */
async function run(service) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => void service.interrupt());
  }
  try {
    await service.start();
  } catch (error) {
    await service.fail(error);
  }
}

class Service {
  #startedAt = Date.now();
  #settings;
  #files;
  /** @type {import('../processes/lock.mjs').HeldLock | undefined} */
  #lock;
  #supervisor = new Supervisor({
    onChange: (processes) => writeProcesses(this.#settings.dataDir, processes),
    onCrash: reportCrash,
  });
  #stopping = false;

  /** @param {import('./settings.mjs').StartSettings} settings */
  constructor(settings) {
    this.#settings = settings;
    this.#files = dataFiles(settings.dataDir);
  }

  async start() {
    // The accounts of the service read the files that root installs and creates here. Secrets have their own
    // mode.
    if (process.getuid?.() === 0) process.umask(0o022);
    createDataFolder(this.#settings.dataDir);
    await this.#takeLock();
    await this.#prepareStart();
    const admin = await this.#runSteps();
    const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(1);
    printBanner({ settings: this.#settings, files: this.#files, ...admin, seconds });
    setInterval(() => this.#trimLogs(), LOG_CHECK_MS);
  }

  /** Stops the service in order at the first signal, and immediately at the second signal. */
  async interrupt() {
    if (this.#stopping) {
      this.#supervisor.kill(SERVICES);
      await endRunningCommands('SIGKILL');
      return;
    }
    print();
    await step('Stopping', () => this.#stop());
    process.exit(0);
  }

  /** @param {unknown} error */
  async fail(error) {
    if (this.#stopping) return; // The interruption ended the step; interrupt() ends the process.
    reportFailure(error);
    await this.#stop();
    process.exit(1);
  }

  async #stop() {
    this.#stopping = true;
    await endRunningCommands();
    await this.#supervisor.close(STOP_GROUPS);
    this.#lock?.release();
  }

  async #takeLock() {
    const { dataDir } = this.#settings;
    // The lock contains the address, which `npm run demo` reads.
    if (this.#settings.port === 0) this.#settings.port = await freePort();
    const lock = await tryLock(this.#files.lock, { url: browserUrl(this.#settings) });
    if (lock.holder) {
      throw new Problem(
        `Already running at ${lock.holder.url} (process ${lock.holder.pid}, data folder ` +
          `${displayPath(dataDir)}). To start a second service, choose another PORT and DATA_DIR`,
      );
    }
    this.#lock = lock;
  }

  async #prepareStart() {
    const settings = this.#settings;
    const ended = await endLeftovers(settings.dataDir);
    if (ended.length > 0) note(`an earlier start was killed: ended ${ended.join(', ')}`);
    const reason = await bindError(settings.host, settings.port);
    if (reason === null) return;
    const address = `${settings.host}:${settings.port}`;
    if (reason === 'EADDRINUSE') {
      throw new Problem(`Port ${settings.port} is in use on ${settings.host}: choose another PORT`);
    }
    if (reason === 'EACCES') throw new Problem(`${address} is not permitted: choose another PORT`);
    throw new Problem(`Cannot listen on ${address} (${reason}): choose another HOST or PORT`);
  }

  async #runSteps() {
    const settings = this.#settings;
    const files = this.#files;
    const log = files.log('set-up');
    trimLog(log);
    await this.#step('Packages', () => installPackages(ROOT, log));
    await this.#step('Build', () => buildWhenNeeded(ROOT, log));
    const withRedis = !settings.redisUrl;
    const tools = await this.#step(
      'Programs',
      () => provideTools({ ...settings, log, withRedis }),
      ({ detail }) => detail,
    );
    if (tools.warning) note(`! ${tools.warning}`);
    const unprivileged = await provideUnprivileged(settings);
    const context = { settings, files, tools, unprivileged, supervisor: this.#supervisor };
    const urls = await startDatastores(context);
    const account = unprivileged?.account;
    const { all, stored } = serviceEnvironment({
      settings,
      files,
      path: tools.path,
      ...urls,
      account,
    });
    writeEnvironment(files, stored);
    const admin = await setUpDatabase({ ...context, environment: all });
    const { isolation } = await startPrograms({ ...context, environment: all });
    this.#lock?.update({ url: browserUrl(settings) });
    return { ...admin, isolation, ansible: tools.ansible };
  }

  /** @type {typeof step} */
  async #step(...args) {
    if (this.#stopping) throw new Problem('interrupted');
    return step(...args);
  }

  #trimLogs() {
    for (const name of LOG_NAMES) trimLog(this.#files.log(name));
  }
}

/** @param {import('../processes/supervise.mjs').Crash} crash */
function reportCrash({ name, logFile, logStart, delayMs, code, signal, error }) {
  const how = error?.message ?? signal ?? `code ${code}`;
  note(`! ${name} ended unexpectedly (${how}), restarting in ${delayMs / 1000} s`);
  const { size = 0 } = statSync(logFile, { throwIfNoEntry: false }) ?? {};
  const line = size > logStart ? lastLogLine(logFile) : null;
  note(`  see ${displayPath(logFile)}${line ? `, which ends with: ${line.slice(0, 300)}` : ''}`);
}

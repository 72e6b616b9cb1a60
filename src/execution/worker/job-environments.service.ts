import { once } from 'node:events';
import { Injectable } from '@nestjs/common';
import { GitReach } from '../../code-hosts/git-reach.js';
import { messageOf } from '../../common/errors/errors.js';
import { Settings } from '../../config/settings.js';
import { CredentialSecrets } from '../../credentials/credential-secrets.service.js';
import { textInput } from '../../credentials/types/inputs.js';
import { isImageReference } from '../../execution-environments/image-reference.js';
import {
  JobContextsRepository,
  type EnvironmentOfRun,
} from '../../runs/job-contexts.repository.js';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import { RunnerError } from '../../runs/runner-error.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import {
  localImage,
  pullImage,
  type LocalImage,
  type RegistryLogin,
} from '../sandbox/container-engine.js';
import { PulledImages } from '../sandbox/pulled-images.js';
import { stopIfEnded, type ActiveRun } from './active-runs.service.js';
import { EventStore } from './event-store.service.js';
import { RunOutput } from './run-output.js';

const INCOMPLETE_LOGIN =
  'Please recheck that your host, username, and password fields are all filled.';

/** Error for a worker without a container engine; another worker can execute the run. */
export class EngineMissing extends RunnerError {}

const DAY_MS = 86_400_000;

type Engine = Awaited<ReturnType<SandboxService['engine']>>;

/** Provides the containers of runs with an execution environment. */
@Injectable()
export class JobEnvironments {
  /** Last pull of each image. A worker pulls the same image only once at a time. */
  private readonly pulls = new Map<string, Promise<void>>();
  private readonly pulled: PulledImages;

  constructor(
    private readonly jobs: JobContextsRepository,
    private readonly leases: RunLeasesRepository,
    private readonly credentials: CredentialSecrets,
    private readonly reach: GitReach,
    private readonly sandbox: SandboxService,
    private readonly events: EventStore,
    { DATA_DIR, CONTENT_RETENTION }: Settings,
  ) {
    this.pulled = new PulledImages(DATA_DIR, CONTENT_RETENTION * DAY_MS);
  }

  /**
   * Pulls the image of a run's execution environment and sets the run's isolation; does nothing for
   * a run without an execution environment.
   *
   * @throws EngineMissing if the worker has no engine, RunnerError if the worker cannot use the
   *   environment, RunEnded if the run must end
   */
  async provide(run: ActiveRun): Promise<void> {
    const row = await this.jobs.environmentOf(run.id);
    if (!row) return;
    if (row.cancel_requested) run.end('cancel');
    stopIfEnded(run);
    // A retried run continues the output of its pull.
    Object.assign(run.position, { counter: row.counter, line: row.line });
    const engine = await this.engine(row);
    const present = await this.image(run, row, engine);
    await this.pulled.recordUse(present);
    const { id, digest } = present;
    const { name, image } = row.environment;
    const found = await this.sandbox.containersOf(id, image);
    if (typeof found === 'string') {
      throw new RunnerError(
        `The image ${image} of execution environment "${name}" cannot be used: ${found}. Correct the image, or choose another execution environment.`,
      );
    }
    await this.leases.storeEnvironmentDigest(run, digest);
    run.isolation = { mode: 'container', ...found };
  }

  private async engine({ environment: { name } }: EnvironmentOfRun): Promise<Engine> {
    try {
      return await this.sandbox.engine();
    } catch (error) {
      throw new EngineMissing(
        `This worker has no container engine for execution environment "${name}". ${messageOf(error)}.`,
      );
    }
  }

  private async image(run: ActiveRun, row: EnvironmentOfRun, engine: Engine): Promise<LocalImage> {
    const { name, image, pull } = row.environment;
    const label = `The image ${image} of execution environment "${name}"`;
    // Podman would read other texts, such as `dir:x`, from the worker's disk.
    if (!isImageReference(image)) {
      throw new RunnerError(`${label} is not an image reference. Correct the image.`);
    }
    const present = await localImage(engine, image);
    if (present && pull !== 'always') return present;
    if (pull === 'never') {
      throw new RunnerError(
        `${label} is not on this worker, and is never pulled. Pull it there, or choose another value of "pull".`,
      );
    }
    const output = new RunOutput(this.events, run, run.position);
    try {
      output.add(`Pulling the image ${image} of execution environment "${name}"\n`);
      await this.serialize(run, image, () => this.pull(run, row, { engine, output }));
    } catch (error) {
      stopIfEnded(run);
      if (error instanceof RunnerError) throw error;
      const reason = messageOf(error).replace(/\.?$/, '.');
      throw new RunnerError(
        `${label} could not be pulled: ${reason} Check the image, its registry and the credential of the execution environment.`,
      );
    } finally {
      await output.end();
    }
    const pulled = await localImage(engine, image);
    if (!pulled) throw new RunnerError(`${label} was pulled, but is not on this worker.`);
    await this.pulled.recordPull(pulled);
    await this.pulled.removeUnused(engine);
    return pulled;
  }

  private async pull(
    run: ActiveRun,
    { environment: { image, pull }, credential_id: credential }: EnvironmentOfRun,
    { engine, output }: { engine: Engine; output: RunOutput },
  ): Promise<void> {
    // Another run may have pulled the image in the meantime.
    if (pull !== 'always' && (await localImage(engine, image))) return;
    await pullImage({
      ...engine,
      image,
      login: credential === null ? null : await this.login(run, credential),
      guard: this.reach.guard,
      signal: run.signal,
      onOutput: (text) => output.add(text),
    });
  }

  private async login({ lookups }: ActiveRun, credential: number): Promise<RegistryLogin> {
    const opened = await this.credentials.open([credential], lookups);
    const inputs = opened.get(credential)?.inputs ?? {};
    const [host = '', username = '', password = ''] = ['host', 'username', 'password'].map((name) =>
      textInput(inputs, name),
    );
    if (host === '' || username === '' || password === '') throw new RunnerError(INCOMPLETE_LOGIN);
    return { host, username, password, verifiesTls: inputs.verify_ssl !== false };
  }

  /** Starts a pull after the earlier pulls of the same image, unless the run must end. */
  private serialize(run: ActiveRun, image: string, work: () => Promise<void>): Promise<void> {
    const earlier = this.pulls.get(image);
    const pull = (async () => {
      stopIfEnded(run);
      if (earlier) await Promise.race([earlier, once(run.signal, 'abort')]);
      stopIfEnded(run);
      await work();
    })();
    const settled = Promise.allSettled([earlier, pull]).then(() => {
      if (this.pulls.get(image) === settled) this.pulls.delete(image);
    });
    this.pulls.set(image, settled);
    return pull;
  }
}

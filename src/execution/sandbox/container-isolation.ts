import { createHash } from 'node:crypto';
import { readlink } from 'node:fs/promises';
import type { Settings } from '../../config/settings.js';
import { messageOf } from '../../common/errors/errors.js';
import { findProcess } from '../runner/process-table.js';
import type { ContainerOwner, ContainerPlan } from './container.js';
import { programVersion, provideImage } from './container-engine.js';
import { filterProfile } from './container-filter.js';
import { jobAccount } from './job-account.js';
import { maxProcesses, processLimit } from './isolation.js';
import { probeError } from './probe.js';
import { shownByOperator } from './system-view.js';

/** A container configuration that works on this machine, with a description for the log. */
export interface FoundContainer {
  readonly detail: string;
  readonly plan: ContainerPlan;
}

/** Returns a container configuration that works on this machine, or the reason why none works. */
export async function findContainer(
  settings: Settings,
  dataDir: string,
): Promise<FoundContainer | string> {
  const { JOB_CONTAINER_IMAGE: image, JOB_CONTAINER_ENGINE: engine } = settings;
  if (image === '') return 'JOB_CONTAINER_IMAGE names no image for containers';
  try {
    const version = await programVersion(engine);
    await provideImage(engine, image);
    return await containersOf(image, image, { version, settings, dataDir });
  } catch (error) {
    return `${engine}: ${messageOf(error)}`;
  }
}

/** The machine on which containers are tried. */
interface Machine {
  /** Version line of the engine. */
  readonly version: string;
  readonly settings: Settings;
  readonly dataDir: string;
}

/**
 * Returns a configuration for containers of a local image, or the reason why they do not work.
 *
 * @param image name or id of the image
 * @param name name of the image for messages
 */
export async function containersOf(
  image: string,
  name: string,
  { version, settings, dataDir }: Machine,
): Promise<FoundContainer | string> {
  const { JOB_CONTAINER_ENGINE: engine } = settings;
  const plan = {
    kind: 'container' as const,
    engine,
    image,
    isPodman: isPodman(version),
    isRoot: process.getuid?.() === 0,
    account: await jobAccount(),
    ...(await shownByOperator(settings, dataDir)),
    openFiles: Math.min(settings.JOB_OPEN_FILES, (await processLimit('open files')) ?? Infinity),
    maxProcesses: await maxProcesses(),
    owner: await localOwner(dataDir),
  };
  const errors: string[] = [];
  // If the engine does not accept our filter, its default filter applies.
  for (const filter of [Buffer.from(filterProfile()), null]) {
    const error = await probeError({ ...plan, filter }, settings);
    if (error === null)
      return { detail: detailOf(version, name, filter), plan: { ...plan, filter } };
    errors.push(error);
  }
  return `${engine}: ${errors[0] ?? ''}`;
}

export const isPodman = (version: string): boolean => version.includes('podman');

function detailOf(version: string, image: string, filter: Buffer | null): string {
  const calls = filter ? [] : ['system calls are filtered by the engine alone'];
  return [`containers of ${image} by ${version}`, ...calls].join('; ');
}

/** Returns the owner of this worker's containers. */
export async function localOwner(dataDir: string): Promise<ContainerOwner> {
  // Workers in separate containers number their processes independently, so the owner includes the
  // process namespace.
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  const key = createHash('sha256').update(`${dataDir}\0${namespace}`).digest('hex').slice(0, 12);
  const startTime = (await findProcess(process.pid))?.startTime ?? '0';
  return { installation: key, worker: `${process.pid}-${startTime}` };
}

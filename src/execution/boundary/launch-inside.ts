import { writeFile } from 'node:fs/promises';
import type { Settings } from '../../config/settings.js';
import { bubblewrapOptions, bubblewrapped, optionsFile, type Plan } from './bubblewrap.js';
import type { Command, Enclosure, Launch } from './command.js';
import { contained, type ContainerPlan } from './container.js';
import { writeEnclosure } from './enclosure-files.js';

/** A sandbox configuration that works on this machine. */
export type BoundaryPlan = Plan | ContainerPlan;

/** Writes the files that the sandbox of a command needs, and returns how to start the command. */
export async function launchInside(
  plan: BoundaryPlan,
  command: Command,
  enclosure: Enclosure,
  settings: Settings,
): Promise<Launch> {
  await writeEnclosure(command, enclosure, plan);
  if (plan.kind === 'container') return contained(command, enclosure, plan, settings);
  const options = bubblewrapOptions(enclosure, plan, settings);
  await writeFile(optionsFile(enclosure), options.map((option) => `${option}\0`).join(''));
  return bubblewrapped(command, enclosure, plan, settings);
}

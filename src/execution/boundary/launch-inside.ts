import type { Settings } from '../../config/settings.js';
import { bubblewrapped, type Plan } from './bubblewrap.js';
import type { Command, Enclosure, Launch } from './command.js';
import { contained, type ContainerPlan } from './container.js';
import { writeEnclosure } from './enclosure-files.js';

/** How commands are kept to their enclosures on this machine. */
export type BoundaryPlan = Plan | ContainerPlan;

/** Writes what a command needs for being kept to its enclosure, and says how it is started. */
export async function launchInside(
  plan: BoundaryPlan,
  command: Command,
  enclosure: Enclosure,
  settings: Settings,
): Promise<Launch> {
  await writeEnclosure(command, enclosure, plan);
  return plan.kind === 'container'
    ? contained(command, enclosure, plan, settings)
    : bubblewrapped(command, enclosure, plan, settings);
}

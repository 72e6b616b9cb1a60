import { writeFile } from 'node:fs/promises';
import type { Settings } from '../../config/settings.js';
import { bubblewrapOptions, bubblewrapLaunch, optionsFile, type Plan } from './bubblewrap.js';
import type { Command, SandboxSpec, Launch } from './command.js';
import { containerLaunch, type ContainerPlan } from './container.js';
import { writeSandboxFiles } from './sandbox-files.js';

/** A sandbox configuration that works on this machine. */
export type SandboxPlan = Plan | ContainerPlan;

/** Writes the files that the sandbox of a command needs, and returns how to start the command. */
export async function launchInside(
  plan: SandboxPlan,
  command: Command,
  spec: SandboxSpec,
  settings: Settings,
): Promise<Launch> {
  await writeSandboxFiles(command, spec, plan);
  if (plan.kind === 'container') return containerLaunch(command, spec, plan, settings);
  const options = bubblewrapOptions(spec, plan, settings);
  await writeFile(optionsFile(spec), options.map((option) => `${option}\0`).join(''));
  return bubblewrapLaunch(command, spec, plan, settings);
}

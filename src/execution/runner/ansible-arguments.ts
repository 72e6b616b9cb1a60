import type { AnsibleRun } from './ansible-run.js';

/** Maximum number of forks that are requested from Ansible. */
const MAX_FORKS = 200;
const MAX_VERBOSITY = 5;
const TEMPLATE_MARKERS = /\{\{|\}\}|\{%|%\}|\{#|#\}/g;

/** Returns the options that every Ansible program has: mode, user, privilege escalation and prompts. */
export function accessArguments(run: AnsibleRun): string[] {
  const args = run.jobType === 'check' ? ['--check'] : [];
  args.push(...valued('-u', '--user', withoutMarkers(run.remoteUser) || 'root'));
  if (run.passwords?.ssh) args.push('--ask-pass');
  if (run.becomeEnabled) args.push('--become');
  if (run.diffMode) args.push('--diff');
  args.push(
    ...optionalArgument('--become-method', '--become-method', withoutMarkers(run.becomeMethod)),
  );
  args.push(...optionalArgument('--become-user', '--become-user', withoutMarkers(run.becomeUser)));
  if (run.passwords?.become) args.push('--ask-become-pass');
  return args;
}

export const forksArguments = ({ forks = 0 }: AnsibleRun): string[] =>
  forks > 0 ? [`--forks=${Math.min(Math.floor(forks), MAX_FORKS)}`] : [];

export function verbosityArguments({ verbosity = 0 }: AnsibleRun): string[] {
  const level = Math.min(Math.floor(verbosity), MAX_VERBOSITY);
  return level > 0 ? [`-${'v'.repeat(level)}`] : [];
}

/** Quotes arguments for `env/cmdline`, which is split like a shell command. */
export function quoteArguments(args: readonly string[]): string {
  return args.map((arg) => `'${arg.replaceAll("'", `'"'"'`)}'`).join(' ');
}

/**
 * Returns an option and its value. A value that begins with a dash is joined to the long option, so that the
 * value is not parsed as another option.
 */
export function valued(short: string, long: string, value: string): string[] {
  return value.startsWith('-') ? [`${long}=${value}`] : [short, value];
}

export function optionalArgument(short: string, long: string, value: string | undefined): string[] {
  return value ? valued(short, long, value) : [];
}

function withoutMarkers(value: string | undefined): string {
  return (value ?? '').replace(TEMPLATE_MARKERS, '').trim();
}

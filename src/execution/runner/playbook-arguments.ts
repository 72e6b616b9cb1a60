import { cleanText } from './clean-text.js';
import type { PlaybookRun } from './playbook-run.js';
import { RunnerError } from '../../runs/runner-error.js';

/** More forks than this are never asked of Ansible. */
export const MAX_FORKS = 200;
const MAX_VERBOSITY = 5;
const TEMPLATE_MARKERS = /\{\{|\}\}|\{%|%\}|\{#|#\}/g;
/** An entry of a host pattern that names a file with patterns. */
const PATTERN_FILE = /(?:^|[,:;\s&!])@([^,:;\s]*)/g;

/** The options of `ansible-playbook` for a job, without inventory, variables and playbook. */
export function playbookArguments(run: PlaybookRun): string[] {
  const args = run.jobType === 'check' ? ['--check'] : [];
  args.push(...valued('-u', '--user', withoutMarkers(run.remoteUser) || 'root'));
  if (run.passwords?.ssh) args.push('--ask-pass');
  if (run.becomeEnabled) args.push('--become');
  if (run.diffMode) args.push('--diff');
  args.push(...optional('--become-method', '--become-method', withoutMarkers(run.becomeMethod)));
  args.push(...optional('--become-user', '--become-user', withoutMarkers(run.becomeUser)));
  if (run.passwords?.become) args.push('--ask-become-pass');
  args.push(...vaultArguments(run));
  if (run.forks && run.forks > 0)
    args.push(`--forks=${Math.min(Math.floor(run.forks), MAX_FORKS)}`);
  if (run.forceHandlers) args.push('--force-handlers');
  args.push(...optional('-l', '--limit', checkedLimit(run.limit)));
  const verbosity = Math.min(Math.floor(run.verbosity ?? 0), MAX_VERBOSITY);
  if (verbosity > 0) args.push(`-${'v'.repeat(verbosity)}`);
  args.push(...optional('-t', '--tags', run.tags));
  if (run.skipTags) args.push(`--skip-tags=${run.skipTags}`);
  if (run.startAtTask) args.push(`--start-at-task=${run.startAtTask}`);
  return args.map(cleanText);
}

/** Quotes arguments for `env/cmdline`, which is split like a shell command. */
export function quoteArguments(args: readonly string[]): string {
  return args.map((arg) => `'${arg.replaceAll("'", `'"'"'`)}'`).join(' ');
}

/** A value that begins with a dash is joined to its option, where nothing can take it for another option. */
function valued(short: string, long: string, value: string): string[] {
  return value.startsWith('-') ? [`${long}=${value}`] : [short, value];
}

function optional(short: string, long: string, value: string | undefined): string[] {
  return value ? valued(short, long, value) : [];
}

function withoutMarkers(value: string | undefined): string {
  return (value ?? '').replace(TEMPLATE_MARKERS, '').trim();
}

function vaultArguments(run: PlaybookRun): string[] {
  const ids = (run.vaultPasswords ?? []).map((vault) => vault.id ?? '');
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw new RunnerError(`Vault id "${repeated}" is given twice.`);
  return ids.flatMap((id) => {
    if (id === '') return ['--ask-vault-pass'];
    // The part after the first @ names a file or a program: an id must not bring one.
    if (!/^[^\s@,]+$/.test(id)) throw new RunnerError(`Vault id "${id}" is not valid.`);
    return valued('--vault-id', '--vault-id', `${id}@prompt`);
  });
}

/** `@file` reads patterns from a file and shows unknown ones in the output: only project files may be named. */
function checkedLimit(limit: string | undefined): string {
  for (const [, path = ''] of (limit ?? '').matchAll(PATTERN_FILE)) {
    const isOutside =
      path.startsWith('/') || path.startsWith('~') || path.split('/').includes('..');
    if (isOutside) throw new RunnerError('The limit names a file outside of the project.');
  }
  return limit ?? '';
}

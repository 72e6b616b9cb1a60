import {
  accessArguments,
  forksArguments,
  optionalArgument,
  valued,
  verbosityArguments,
} from './ansible-arguments.js';
import { cleanText } from './clean-text.js';
import type { PlaybookRun } from './playbook-run.js';
import { RunnerError } from '../../runs/runner-error.js';

/** An entry of a host pattern that names a file with patterns. */
const PATTERN_FILE = /(?:^|[,:;\s&!])@([^,:;\s]*)/g;

/**
 * Returns the options of `ansible-playbook` for a job, without inventory, variables and playbook.
 */
export function playbookArguments(run: PlaybookRun): string[] {
  const args = [...accessArguments(run), ...vaultArguments(run), ...forksArguments(run)];
  if (run.forceHandlers) args.push('--force-handlers');
  args.push(...optionalArgument('-l', '--limit', checkedLimit(run.limit)));
  args.push(...verbosityArguments(run));
  args.push(...optionalArgument('-t', '--tags', run.tags));
  if (run.skipTags) args.push(`--skip-tags=${run.skipTags}`);
  if (run.startAtTask) args.push(`--start-at-task=${run.startAtTask}`);
  return args.map(cleanText);
}

function vaultArguments(run: PlaybookRun): string[] {
  const ids = (run.vaultPasswords ?? []).map((vault) => vault.id ?? '');
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw new RunnerError(`Vault id "${repeated}" is given twice.`);
  return ids.flatMap((id) => {
    if (id === '') return ['--ask-vault-pass'];
    // The part after the first @ names a file or a program, so an id must not contain an @.
    if (!/^[^\s@,]+$/.test(id)) throw new RunnerError(`Vault id "${id}" is not valid.`);
    return valued('--vault-id', '--vault-id', `${id}@prompt`);
  });
}

/**
 * Checks the files in a limit. `@file` reads patterns from a file and prints unknown patterns, so only
 * project files are allowed.
 */
function checkedLimit(limit: string | undefined): string {
  for (const [, path = ''] of (limit ?? '').matchAll(PATTERN_FILE)) {
    const isOutside =
      path.startsWith('/') || path.startsWith('~') || path.split('/').includes('..');
    if (isOutside) throw new RunnerError('The limit names a file outside of the project.');
  }
  return limit ?? '';
}

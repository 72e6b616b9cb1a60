import type { SettingDeclaration } from '../config/setting.js';
import { SETTINGS } from '../config/settings.js';
import { writeOrCheck } from './documents.js';

type Declaration = SettingDeclaration<unknown>;

const INTRODUCTION = `# Settings

Every setting is read from the environment; \`<NAME>_FILE\` names a file that contains the value instead.
Settings marked "yes" under *Run time* can also be changed at \`/api/v2/settings/<category>/\` while the
service runs. A process with invalid settings does not start, and reports all errors together.

This page is generated from \`src/config/settings.ts\`: \`npm run controller -- settings-docs\`.
`;

/** Writes `docs/settings.md`. With `--check`, fails if the file is outdated. */
export function settingsDocs(argv: readonly string[]): Promise<number> {
  return writeOrCheck('settings.md', settingsTable(), argv, 'npm run controller -- settings-docs');
}

/** Returns the page of all settings by category. */
export function settingsTable(): string {
  const all = Object.entries(SETTINGS);
  const categories = [...new Set(all.map(([, { category }]) => category))].sort();
  const sections = categories.map((category) => {
    const rows = all.filter(([, declaration]) => declaration.category === category).map(rowOf);
    return [
      `## ${category.replace(/^(?:ui$|.)/, (start) => start.toUpperCase())}`,
      '',
      '| Setting | Type | Default | Allowed | Run time | Meaning |',
      '|---|---|---|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

function rowOf([name, declaration]: [string, Declaration]): string {
  const { type, help, runtime } = declaration;
  const cells = [
    `\`${name}\``,
    type,
    defaultOf(declaration),
    allowedOf(declaration),
    runtime ? 'yes' : 'no',
    help.replaceAll('|', '\\|'),
  ];
  return `| ${cells.join(' | ')} |`;
}

function defaultOf({ type, default: value }: Declaration): string {
  if (type === 'map') return `\`${JSON.stringify(value)}\``;
  const text = Array.isArray(value) ? value.join(',') : String(value ?? '');
  return text === '' ? '(empty)' : `\`${text}\``;
}

function allowedOf({ type, min, max, choices, auto }: Declaration): string {
  if (choices) return choices.map((choice) => `\`${choice}\``).join(', ');
  if (type !== 'integer') return max === undefined ? '' : `${max} characters`;
  const numbers = max === undefined ? `from ${min ?? 0}` : `${min ?? 0} to ${max}`;
  return auto ? `${numbers}, \`auto\`` : numbers;
}

import { readFileSync } from 'node:fs';

export type SettingType = 'integer' | 'boolean' | 'string' | 'list' | 'secret';

/** One setting: environment variable, type, default, bounds and what it is for. */
export interface SettingDeclaration<T> {
  type: SettingType;
  default: T;
  help: string;
  /** Unit of a number. */
  unit?: 'bytes' | 'days' | 'milliseconds' | 'seconds';
  min?: number;
  max?: number;
  choices?: readonly string[];
  /** What the word `auto` stands for on this machine, where it may be said. */
  auto?: () => T;
  /** Group under `/api/v2/settings/<category>/`. */
  category: string;
  /** May be changed at run time through the API; the environment gives the start value. */
  runtime?: boolean;
}

type Options<T> = Omit<SettingDeclaration<T>, 'type'>;

export const integer = (options: Options<number>): SettingDeclaration<number> => ({
  type: 'integer',
  ...options,
});
type Measure = (options: Options<number>) => SettingDeclaration<number>;
export const bytes: Measure = (options) => integer({ unit: 'bytes', ...options });
export const days: Measure = (options) => integer({ unit: 'days', ...options });
export const milliseconds: Measure = (options) => integer({ unit: 'milliseconds', ...options });
export const seconds: Measure = (options) => integer({ unit: 'seconds', ...options });
export const boolean = (options: Options<boolean>): SettingDeclaration<boolean> => ({
  type: 'boolean',
  ...options,
});
export const string = (options: Options<string>): SettingDeclaration<string> => ({
  type: 'string',
  ...options,
});
/** Comma-separated texts. */
export const list = (
  options: Options<readonly string[]>,
): SettingDeclaration<readonly string[]> => ({
  type: 'list',
  ...options,
});
/** A text that is never shown. */
export const secret = (options: Options<string>): SettingDeclaration<string> => ({
  type: 'secret',
  ...options,
});

/** Every fault of the environment at once. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The settings are not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

/** Converts one text to a setting's type. @throws Error with a sentence for the operator */
export function parseSetting(
  name: string,
  declaration: SettingDeclaration<unknown>,
  text: string,
): unknown {
  switch (declaration.type) {
    case 'integer': {
      if (declaration.auto && text.trim() === 'auto') return declaration.auto();
      const value = Number(text);
      const { min = 0, max = Number.MAX_SAFE_INTEGER } = declaration;
      if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
        const bounds =
          declaration.max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
        throw new Error(`${name} must be a whole number ${bounds}, not "${text}".`);
      }
      return value;
    }
    case 'boolean': {
      const word = text.trim().toLowerCase();
      if (['1', 'true', 'yes', 'on'].includes(word)) return true;
      if (['0', 'false', 'no', 'off', ''].includes(word)) return false;
      throw new Error(`${name} must be 1 or 0 (true or false), not "${text}".`);
    }
    case 'list':
      return text
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '');
    default:
      if (declaration.choices && !declaration.choices.includes(text)) {
        throw new Error(`${name} must be one of ${declaration.choices.join(', ')}, not "${text}".`);
      }
      return text;
  }
}

/** The text of a setting: `NAME`, or the content of the file that `NAME_FILE` names. */
export function readEnvironment(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const file = environment[`${name}_FILE`];
  if (file !== undefined && file !== '') return readFileSync(file, 'utf8').trim();
  return environment[name];
}

/** The files that values of settings come from. */
export function settingFiles(environment: NodeJS.ProcessEnv, names: readonly string[]): string[] {
  return names.flatMap((name) => environment[`${name}_FILE`] || []);
}

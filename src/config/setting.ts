import { readFileSync } from 'node:fs';

export type SettingType = 'integer' | 'boolean' | 'string' | 'list' | 'map' | 'secret';

/** Declaration of a setting: type, default, limits and description. */
export interface SettingDeclaration<T> {
  type: SettingType;
  default: T;
  help: string;
  /** Unit of a number. */
  unit?: 'bytes' | 'days' | 'milliseconds' | 'seconds';
  min?: number;
  /** Maximum of a number; maximum number of characters of a text. */
  max?: number;
  /** Returns the error of a text, or of an entry of a list, that the type alone would accept, or null. */
  fault?: (value: string) => string | null;
  choices?: readonly string[];
  /** Returns the value for `auto` on this machine, if the setting accepts `auto`. */
  auto?: () => T;
  /** Type of the object whose id the number is; 0: no object. */
  refersTo?: string;
  /** Category of the setting, in `/api/v2/settings/<category>/`. */
  category: string;
  /**
   * True if the setting can be changed at run time through the API. The environment provides the initial
   * value.
   */
  runtime?: boolean;
}

type Options<T> = Omit<SettingDeclaration<T>, 'type' | 'category'>;
type Unset<T> = Omit<Options<T | null>, 'default'>;

/** A hundred years. PostgreSQL cannot compute with dates long before our era. */
const MAX_DAYS = 36_500;

/** Category of settings, in `/api/v2/settings/<category>/`. Its methods declare the settings. */
class SettingCategory {
  constructor(private readonly category: string) {}

  integer(options: Options<number>): SettingDeclaration<number> {
    return { type: 'integer', category: this.category, ...options };
  }

  /** Declares a number that is null if it is not set. */
  optionalInteger(options: Unset<number>): SettingDeclaration<number | null> {
    return { type: 'integer', category: this.category, default: null, ...options };
  }

  bytes(options: Options<number>): SettingDeclaration<number> {
    return this.integer({ unit: 'bytes', ...options });
  }

  days(options: Options<number>): SettingDeclaration<number> {
    return this.integer({ unit: 'days', max: MAX_DAYS, ...options });
  }

  milliseconds(options: Options<number>): SettingDeclaration<number> {
    return this.integer({ unit: 'milliseconds', ...options });
  }

  seconds(options: Options<number>): SettingDeclaration<number> {
    return this.integer({ unit: 'seconds', ...options });
  }

  boolean(options: Options<boolean>): SettingDeclaration<boolean> {
    return { type: 'boolean', category: this.category, ...options };
  }

  string(options: Options<string>): SettingDeclaration<string> {
    return { type: 'string', category: this.category, ...options };
  }

  /** Declares a text that is null if it is not set. */
  optionalString(options: Unset<string>): SettingDeclaration<string | null> {
    return { type: 'string', category: this.category, default: null, ...options };
  }

  /** Declares comma-separated texts. */
  list(options: Options<readonly string[]>): SettingDeclaration<readonly string[]> {
    return { type: 'list', category: this.category, ...options };
  }

  /** Declares environment variables: an object of texts, in the environment as JSON. */
  variables(
    options: Options<Readonly<Record<string, string>>>,
  ): SettingDeclaration<Readonly<Record<string, string>>> {
    return { type: 'map', category: this.category, ...options };
  }

  /** Declares a text that is never shown. */
  secret(options: Options<string>): SettingDeclaration<string> {
    return { type: 'secret', category: this.category, ...options };
  }
}

export const authentication = new SettingCategory('authentication');
export const bulk = new SettingCategory('bulk');
export const jobs = new SettingCategory('jobs');
export const logging = new SettingCategory('logging');
export const notifications = new SettingCategory('notifications');
export const system = new SettingCategory('system');
export const ui = new SettingCategory('ui');
export const webhooks = new SettingCategory('webhooks');

/** Error with all invalid settings of the environment. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The settings are not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

/**
 * Converts a text to a setting's type.
 *
 * @throws Error with a message for the operator
 */
export function parseSetting(
  name: string,
  declaration: SettingDeclaration<unknown>,
  text: string,
): unknown {
  if (text.trim() === '' && declaration.default === null) return null;
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
    case 'list': {
      const entries = text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
      const fault = entryFault(declaration, entries);
      if (fault !== null) throw new Error(`${name} ${fault}`);
      return entries;
    }
    case 'map':
      return variablesIn(text, name);
    default: {
      if (declaration.choices && !declaration.choices.includes(text)) {
        throw new Error(`${name} ${choiceFault(declaration.choices, text)}`);
      }
      const fault = declaration.max === undefined ? null : textFault(declaration, text);
      if (fault !== null) throw new Error(`${name}: ${fault}`);
      return text;
    }
  }
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const MAX_VARIABLES = 100;

/** Returns true for an object of at most 100 environment variables. */
export const isVariables = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length <= MAX_VARIABLES &&
  Object.entries(value).every(
    ([name, value]) =>
      VARIABLE.test(name) && typeof value === 'string' && /^[^\u0000]{0,4096}$/.test(value),
  );

function variablesIn(text: string, name: string): Record<string, string> {
  try {
    const parsed: unknown = JSON.parse(text === '' ? '{}' : text);
    if (isVariables(parsed)) return parsed;
  } catch {
    // The error below names the expected format.
  }
  throw new Error(`${name} must be a JSON object of texts by the names of variables.`);
}

/** Maximum number of characters of a text without `max` that is set at run time. */
const MAX_TEXT = 4096;

export const maxOfText = ({ max = MAX_TEXT }: SettingDeclaration<unknown>): number => max;

const choiceFault = (choices: readonly string[], text: string): string =>
  `must be one of ${choices.join(', ')}, not "${text}".`;

/** Returns the fault of the first entry of a list that is not allowed, or null. */
export function entryFault(
  { choices, fault }: SettingDeclaration<unknown>,
  entries: readonly string[],
): string | null {
  for (const entry of entries) {
    if (choices && !choices.includes(entry)) return choiceFault(choices, entry);
    const found = fault?.(entry) ?? null;
    if (found !== null) return found;
  }
  return null;
}

/** Returns the fault of a text as a sentence for the operator, or null. */
export function textFault(declaration: SettingDeclaration<unknown>, text: string): string | null {
  const max = maxOfText(declaration);
  const { choices } = declaration;
  if (choices && !choices.includes(text)) return `It ${choiceFault(choices, text)}`;
  if (text.length > max) return `Ensure this value has at most ${max} characters.`;
  return declaration.fault?.(text) ?? null;
}

/** Returns the text of a setting: `NAME`, or the content of the file in `NAME_FILE`. */
export function readEnvironment(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const file = environment[`${name}_FILE`];
  if (file !== undefined && file !== '') return readFileSync(file, 'utf8').trim();
  return environment[name];
}

/** Returns the files that contain values of settings. */
export function settingFiles(environment: NodeJS.ProcessEnv, names: readonly string[]): string[] {
  return names.flatMap((name) => environment[`${name}_FILE`] || []);
}

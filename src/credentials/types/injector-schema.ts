import { isRecord } from '../../common/records.js';
import type { InputField } from './definition.js';
import { renderInjector, TemplateError, type TemplateScope } from './injector-template.js';

const PARTS = ['file', 'env', 'extra_vars'] as const;
const NAME_SHAPES: Record<(typeof PARTS)[number], RegExp> = {
  file: /^template(\.[a-zA-Z_][a-zA-Z0-9_]*)?$/,
  env: /^[a-zA-Z_][a-zA-Z0-9_]*$/,
  extra_vars: /^[a-zA-Z_][a-zA-Z0-9_]*$/,
};
const MAX_ENTRIES = 200;
/** Maximum number of characters of all templates of a type. */
const MAX_TOTAL_LENGTH = 65_536;

/** Variables that control the run, or the code that its processes load. */
const REFUSED_ENV = new Set([
  'PATH',
  'HOME',
  'SHELL',
  'BASH_ENV',
  'ENV',
  'IFS',
  'TERM',
  'VIRTUAL_ENV',
  'PYTHONPATH',
  'PYTHONHOME',
  'PYTHONSTARTUP',
  'NODE_OPTIONS',
  'JOB_ID',
  'INVENTORY_ID',
  'INVENTORY_SOURCE_ID',
  'INVENTORY_UPDATE_ID',
  'AD_HOC_COMMAND_ID',
  'PROJECT_REVISION',
  'REST_API_URL',
  'REST_API_TOKEN',
  'MAX_EVENT_RES',
  'CALLBACK_QUEUE',
  'CALLBACK_CONNECTION',
  'CACHE',
  'JOB_CALLBACK_DEBUG',
  'INVENTORY_HOSTVARS',
  'AWX_HOST',
  'AWX_PRIVATE_DATA_DIR',
  'SUPERVISOR_CONFIG_PATH',
]);
const REFUSED_ENV_PREFIXES = ['LD_', 'DYLD_', 'RUNNER_'];

/** Returns the reason why a credential cannot set an environment variable, or null. */
export function envNameError(name: string): string | null {
  if (name.startsWith('ANSIBLE_')) {
    return `Environment variable ${name} may affect Ansible configuration so its use is not allowed in credentials.`;
  }
  const isRefused =
    REFUSED_ENV.has(name) || REFUSED_ENV_PREFIXES.some((prefix) => name.startsWith(prefix));
  return isRefused
    ? `Environment variable ${name} is not allowed to be used in credentials.`
    : null;
}

/** Returns the errors of a type's injectors. The type's inputs must be valid. */
export function injectorErrors(injectors: unknown, fields: readonly InputField[]): string[] {
  if (!isRecord(injectors)) return ['Must be an object.'];
  const errors = Object.keys(injectors)
    .filter((key) => !PARTS.some((part) => part === key))
    .map((key) => `Additional properties are not allowed ('${key}' was unexpected)`);
  errors.push(...PARTS.flatMap((part) => shapeErrors(part, injectors[part])));
  if (errors.length > 0) return errors;
  const texts = PARTS.flatMap((part) => Object.values(injectors[part] ?? {}).map(String));
  if (texts.join('').length > MAX_TOTAL_LENGTH) {
    return [`All templates together may not have more than ${MAX_TOTAL_LENGTH} characters.`];
  }
  const fileNames = Object.keys(injectors.file ?? {});
  if (fileNames.includes('template') && fileNames.length > 1) {
    return ['Must use multi-file syntax when injecting multiple files'];
  }
  const scope = exampleScope(fields, fileNames);
  return PARTS.flatMap((part) =>
    Object.entries(injectors[part] ?? {}).flatMap(([name, template]: [string, unknown]) =>
      templateErrors(part, name, String(template), scope),
    ),
  );
}

/**
 * Returns `tower.filename` of a type: the path of its only file, or an object of paths by the names after
 * `template.`; undefined without files.
 */
export function towerFilename(
  fileNames: readonly string[],
  pathOf: (fileName: string) => string,
): unknown {
  if (fileNames.length === 0) return undefined;
  if (fileNames.includes('template')) return pathOf('template');
  return Object.fromEntries(
    fileNames.map((name) => [name.slice('template.'.length), pathOf(name)]),
  );
}

function shapeErrors(part: (typeof PARTS)[number], value: unknown): string[] {
  if (value === undefined) return [];
  if (!isRecord(value)) return [`'${part}' must be an object.`];
  const entries = Object.entries(value);
  if (entries.length > MAX_ENTRIES)
    return [`'${part}' may not have more than ${MAX_ENTRIES} entries.`];
  return entries.flatMap(([name, template]) => {
    if (name === '__proto__' || !NAME_SHAPES[part].test(name))
      return [`'${name}' is not a valid name in '${part}'.`];
    if (typeof template !== 'string') return [`'${name}' in '${part}' must be a string.`];
    return [];
  });
}

function templateErrors(
  part: string,
  name: string,
  template: string,
  scope: TemplateScope,
): string[] {
  const fault = part === 'env' ? envNameError(name) : null;
  if (fault !== null) return [fault];
  try {
    renderInjector(template, scope, true);
    return [];
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return [describe(error, part, name)];
  }
}

function describe({ fault, message }: TemplateError, part: string, name: string): string {
  if (fault === 'undefined') return `${name} uses an undefined field (${message})`;
  if (fault === 'syntax') {
    return `Syntax error rendering template for ${name} inside of ${part} (${message})`;
  }
  return `The template for ${name} inside of ${part} cannot be used (${message})`;
}

/** Returns an example value for each name that a template can use, for validating a type. */
function exampleScope(fields: readonly InputField[], fileNames: readonly string[]): TemplateScope {
  const scope: TemplateScope = Object.fromEntries(
    fields.map(({ id, type, choices }) => [
      id,
      type === 'boolean' ? true : (choices?.[0] ?? 'EXAMPLE'),
    ]),
  );
  const filename = towerFilename(fileNames, () => 'EXAMPLE_FILENAME');
  return { ...scope, tower: filename === undefined ? {} : { filename } };
}

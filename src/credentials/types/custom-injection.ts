import { tableOf } from '../../common/records.js';
import type { CombinedCredential } from './combination.js';
import type { CredentialInputs, CredentialTypeDefinition } from './definition.js';
import { HIDDEN, InjectionError, withLineBreak, type InjectionTarget } from './injection-plan.js';
import { envNameError, towerFilename } from './injector-schema.js';
import { renderInjector, TemplateError, type TemplateScope } from './injector-template.js';
import { secretInputs } from './inputs.js';

/**
 * Renders the injectors of a credential's type. Files come first, because the other injectors can
 * refer to their paths. Empty results of shipped types are omitted, and so are the paths of empty
 * files: an empty user name beside a token misleads clients.
 */
export function injectCustom(
  { plan, pathOf, addFile }: InjectionTarget,
  { name, type, inputs }: CombinedCredential,
): void {
  const { file = {}, env = {}, extra_vars: extraVars = {} } = type.injectors;
  const scope = inputScope(type, inputs);
  const isOmitted = (rendered: string): boolean => type.managed && rendered === '';
  const render = (label: string, template: string, names: TemplateScope): string =>
    renderFor(`${label} of Credential ${name}`, template, names);
  const fileNames = Object.entries(file).flatMap(([fileName, template]) => {
    const content = render(fileName, template, scope);
    if (isOmitted(content)) return [];
    addFile(fileName, content);
    return [fileName];
  });
  const filename = towerFilename(fileNames, pathOf);
  const tower = { tower: filename === undefined ? {} : { filename } };
  const safeScope = { ...hideSecrets(type, scope), ...tower };
  const fullScope = { ...scope, ...tower };
  for (const [variable, template] of Object.entries(env)) {
    const fault = envNameError(variable);
    if (fault !== null) throw new InjectionError(fault);
    const value = render(variable, template, fullScope);
    if (isOmitted(value)) continue;
    plan.env[variable] = value;
    plan.safeEnv[variable] = render(variable, template, safeScope);
  }
  for (const [variable, template] of Object.entries(extraVars)) {
    const value = render(variable, template, fullScope);
    if (!isOmitted(value)) plan.extraVars[variable] = value;
  }
}

/** Returns the declared inputs. Empty texts are undefined, so that `default(...)` works in templates. */
function inputScope(type: CredentialTypeDefinition, inputs: CredentialInputs): TemplateScope {
  const fields = type.inputs.fields ?? [];
  return Object.fromEntries(
    fields.map(({ id, type: kind, format, default: fallback }): [id: string, value: unknown] => {
      const value = inputs[id] ?? fallback;
      if (kind === 'boolean') return [id, value === true];
      if (typeof value !== 'string' || value === '') return [id, undefined];
      return [id, format === 'ssh_private_key' ? withLineBreak(value) : value];
    }),
  );
}

function hideSecrets(type: CredentialTypeDefinition, scope: TemplateScope): TemplateScope {
  const secrets = secretInputs(type).filter((id) => scope[id] !== undefined);
  return { ...scope, ...tableOf(secrets, () => HIDDEN) };
}

function renderFor(label: string, template: string, scope: TemplateScope): string {
  try {
    return renderInjector(template, scope);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new InjectionError(
      `Job cannot start because ${label} cannot be rendered: ${error.message}.`,
    );
  }
}

import { INT4_MAX, isStorable } from '../common/fields/text.js';
import { invalidPk, typeName, validate } from '../common/fields/validate.js';
import { parseVariables } from '../common/fields/variables.js';
import { Invalid } from '../common/errors/errors.js';
import { PROMPT_LISTS, promptsIn, type Prompts } from './launch-options.js';
import { LAUNCH_FIELDS } from './launch.schema.js';

/** A launch as a request body describes it. */
export interface LaunchBody {
  prompts: Prompts;
  credentialPasswords: Record<string, string>;
}

/** Names under which passwords may also stand at the top level, as old clients send them. */
const PASSWORD_NAME =
  /^(?:ssh_password|become_password|ssh_key_unlock|vault_password(?:\..{1,1024})?)$/;

/**
 * Reads the body of a launch (docs/contract/launching.md#launch). @throws Invalid with every fault
 * at once
 */
export function readLaunchBody(body: Record<string, unknown>): LaunchBody {
  const given = 'inventory' in body ? body : { ...body, inventory: body.inventory_id };
  const { credential_passwords: passwords, ...values } = validate(LAUNCH_FIELDS, given, {
    partial: true,
  });
  for (const field of PROMPT_LISTS) {
    const list = values[field];
    if (Array.isArray(list)) values[field] = readIds(field, list);
  }
  if (typeof values.extra_vars === 'string') values.extra_vars = parseVariables(values.extra_vars);
  return { prompts: promptsIn(values), credentialPasswords: readPasswords(body, passwords) };
}

function readIds(field: string, list: readonly unknown[]): number[] {
  const ids = list.map((item) => {
    const id = typeof item === 'string' && /^\d{1,10}$/.test(item) ? Number(item) : item;
    if (typeof id !== 'number' || !Number.isInteger(id)) {
      throw Invalid.field(field, `Incorrect type. Expected pk value, received ${typeName(item)}.`);
    }
    if (id < 1 || id > INT4_MAX) throw Invalid.field(field, invalidPk(id));
    return id;
  });
  return [...new Set(ids)];
}

/** `credential_passwords`, and passwords beside it. */
export function readPasswords(
  body: Record<string, unknown>,
  nested: unknown = body.credential_passwords,
): Record<string, string> {
  const isObject = typeof nested === 'object' && nested !== null && !Array.isArray(nested);
  if (nested !== undefined && nested !== null && !isObject) {
    throw Invalid.field(
      'credential_passwords',
      `Invalid data. Expected a dictionary, but got ${typeName(nested)}.`,
    );
  }
  const entries = [
    ...Object.entries(body).filter(([name]) => PASSWORD_NAME.test(name)),
    ...Object.entries(nested ?? {}),
  ];
  for (const [name, value] of entries) {
    if (typeof value !== 'string' || !isStorable(value)) {
      throw Invalid.field('credential_passwords', `${name}: Not a valid string.`);
    }
  }
  return Object.fromEntries(entries as [string, string][]);
}

import { fieldsOf, Includes } from '../common/fields/field.js';
import { parseVariables } from '../common/fields/variables.js';
import { CredentialPasswords } from './credential-passwords.js';
import { LAUNCH_OPTIONS, promptsIn, type Prompts } from './launch-options.js';
import { optional } from './prompt-columns.js';

/**
 * The launch fields of a request. `null` means "not sent", because clients send it for fields that
 * they leave unset.
 */
@Includes(
  LAUNCH_OPTIONS.map(({ field }) => ({
    ...optional(field),
    formerName: field.name === 'inventory' ? 'inventory_id' : null,
    column: null,
    filter: false,
    needs: null,
    usesDefault: false,
  })),
)
export class PromptsBody {}

/**
 * Body of a launch (docs/contract/launching.md#launch). A field counts only if the template prompts
 * for it.
 */
export class LaunchBody extends PromptsBody {
  @CredentialPasswords({ nullable: true, writeOnly: true })
  credential_passwords!: Record<string, string>;
}

export const PROMPTS_BODY_FIELDS = fieldsOf(PromptsBody);

/** Returns the launch fields of a body, with variables as an object. */
export function promptsOfBody(body: object): Prompts {
  const { extra_vars: text, ...others }: Record<string, unknown> = { ...body };
  return promptsIn(
    typeof text === 'string' ? { ...others, extra_vars: parseVariables(text) } : others,
  );
}

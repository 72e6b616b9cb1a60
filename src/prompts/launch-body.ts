import { fieldsOf, Includes } from '../common/fields/field.js';
import { validate } from '../common/fields/validate.js';
import { parseVariables } from '../common/fields/variables.js';
import { CredentialPasswords } from './credential-passwords.js';
import { LAUNCH_OPTIONS, promptsIn, type Prompts } from './launch-options.js';
import { optional } from './prompt-columns.js';

/** The launch fields as a request sends them: `null` is "not sent", clients fill what they leave with it. */
@Includes(
  LAUNCH_OPTIONS.map(({ field }) => ({
    ...optional(field),
    formerName: field.name === 'inventory' ? 'inventory_id' : null,
    column: null,
    filter: false,
    needs: null,
    assumed: false,
  })),
)
export class PromptsBody {}

/**
 * Body of a launch (docs/contract/launching.md#launch). A field counts where the template asks for
 * it.
 */
export class LaunchBody extends PromptsBody {
  @CredentialPasswords({ nullable: true, writeOnly: true })
  credential_passwords!: Record<string, string>;
}

export const PROMPTS_BODY_FIELDS = fieldsOf(PromptsBody);

/**
 * Reads launch fields that stand elsewhere than in a body of their own.
 *
 * @throws Invalid with every fault at once
 */
export const readPrompts = (given: Readonly<Record<string, unknown>>): Prompts =>
  promptsOfBody(validate(PromptsBody, given));

/** The launch fields that a body sets, variables as an object. */
export function promptsOfBody(body: object): Prompts {
  const { extra_vars: text, ...others }: Record<string, unknown> = { ...body };
  return promptsIn(
    typeof text === 'string' ? { ...others, extra_vars: parseVariables(text) } : others,
  );
}

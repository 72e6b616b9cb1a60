import type { FieldErrors } from '../common/errors/errors.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { connectionFaults } from './connection-variables.js';
import { mergePrompts, type PromptedTemplate } from './launch-config.js';
import type { Prompts } from './launch-options.js';
import { heldVariables, variableErrors } from './launch-variables.js';
import { secretVariables, valueErrors, type Survey } from './survey.js';

/** What is said of what a template does not ask for. */
export interface Refusal {
  field: string;
  /** Of variables, by their names. */
  variables: (names: readonly string[]) => string;
}

/** A template as a saved launch of it is checked: a node of a workflow, for instance. */
export interface SavedTarget {
  prompted: PromptedTemplate;
  refusal: Refusal;
  /** The survey when it is switched on. */
  survey: Survey | null;
}

/**
 * What of a saved launch the template would not take, by launch field
 * (docs/contract/launching.md#saved-launches). Unlike a launch, which ignores and tells, saving
 * what could never count is refused. What a launch may still bring, such as a mandatory answer, is
 * not missing here.
 */
export function savedPromptErrors(target: SavedTarget, prompts: Prompts): FieldErrors {
  const { ignored } = mergePrompts(target.prompted, prompts);
  const why = target.refusal.field;
  const refused = Object.keys(ignored).map((field): [string, string[]] => [field, [why]]);
  const variables = prompts.extra_vars ?? {};
  return {
    ...Object.fromEntries(refused),
    ...savedVariableErrors(variables, target),
  };
}

function savedVariableErrors(
  variables: Readonly<Record<string, unknown>>,
  { prompted, refusal, survey }: SavedTarget,
): FieldErrors {
  const asks = prompted.asks('extra_vars');
  const questions = new Map(survey?.spec.map((question) => [question.variable, question]));
  const secrets = new Set(survey ? secretVariables(survey) : []);
  const texts: string[] = [];
  const answers: string[] = [];
  const unasked = Object.keys(variables).filter((name) => !asks && !questions.has(name));
  if (unasked.length > 0) texts.push(refusal.variables(unasked));
  for (const [name, value] of Object.entries(variables)) {
    if (value === ENCRYPTED) {
      if (secrets.has(name)) continue;
      texts.push(`"${ENCRYPTED}" is a reserved keyword, may not be used for ${name}.`);
    }
    const question = questions.get(name);
    if (question) answers.push(...valueErrors(question, value));
  }
  const held = heldVariables(prompted.ownVariables(), survey);
  texts.push(...connectionFaults(variables, { isOpen: prompted.allowsConnectionVars, held }));
  return variableErrors({ answers, variables: texts });
}

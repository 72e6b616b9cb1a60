import type { FieldErrors } from '../common/errors/errors.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { mapValues } from '../common/records.js';
import { connectionFaults } from './connection-variables.js';
import { mergePrompts, type PromptedTemplate } from './launch-config.js';
import type { Prompts } from './launch-options.js';
import { defaultVariables, reservedWordFault, variableErrors } from './launch-variables.js';
import { secretVariables, valueErrors, type Survey } from './survey.js';

/** Error texts for fields that a template does not prompt for. */
export interface Refusal {
  field: string;
  /** Error text for variables, by their names. */
  variables: (names: readonly string[]) => string;
}

/** The template of a saved launch, with the data that checks need. */
export interface SavedTarget {
  prompted: PromptedTemplate;
  refusal: Refusal;
  /** Enabled survey; null without one. */
  survey: Survey | null;
  /** Returns the faults of variables, for templates with fixed variables. */
  variableFaults?: (variables: Readonly<Record<string, unknown>>) => string[];
}

/**
 * Returns the faults of a saved launch by launch field (docs/contract/launching.md#saved-launches).
 * A launch ignores and reports fields that the template does not prompt for; saving refuses them,
 * because they could never have an effect. Values that a launch can still supply, such as a
 * mandatory answer, are not required here.
 *
 * @param stored names of the stored secret answers, which the mask of secrets keeps
 */
export function savedPromptErrors(
  target: SavedTarget,
  prompts: Prompts,
  stored: readonly string[] = [],
): FieldErrors {
  const { ignored } = mergePrompts(target.prompted, prompts);
  return {
    ...mapValues({ ...ignored }, () => [target.refusal.field]),
    ...savedVariableErrors(prompts.extra_vars ?? {}, target, stored),
  };
}

function savedVariableErrors(
  variables: Readonly<Record<string, unknown>>,
  { prompted, refusal, survey, variableFaults }: SavedTarget,
  stored: readonly string[],
): FieldErrors {
  if (variableFaults) return variableErrors({ answers: [], variables: variableFaults(variables) });
  const acceptsAny = prompted.promptsFor('extra_vars');
  const questions = new Map(survey?.spec.map((question) => [question.variable, question]));
  const secrets = new Set(survey ? secretVariables(survey) : []);
  const faults: string[] = [];
  const answers: string[] = [];
  const notPrompted = Object.keys(variables).filter((name) => !acceptsAny && !questions.has(name));
  if (notPrompted.length > 0) faults.push(refusal.variables(notPrompted));
  for (const [name, value] of Object.entries(variables)) {
    if (value === ENCRYPTED) {
      if (secrets.has(name) && stored.includes(name)) continue;
      faults.push(reservedWordFault(name));
    }
    const question = questions.get(name);
    if (question) answers.push(...valueErrors(question, value));
  }
  const defaults = defaultVariables(prompted.variables(), survey);
  const isOpen = prompted.allowsConnectionVars;
  faults.push(...connectionFaults(variables, { isOpen, defaults, secrets }));
  return variableErrors({ answers, variables: faults });
}

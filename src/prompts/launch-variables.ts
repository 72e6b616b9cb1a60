import { mergeExact } from '../common/exact-json.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { connectionFaults } from './connection-variables.js';
import { maskedNames } from './launch-secrets.js';
import { answerErrors, defaultAnswers, secretVariables, type Survey } from './survey.js';

export interface VariableSources {
  /** Variables of the template itself. */
  template: Readonly<Record<string, unknown>>;
  /** Enabled survey with decrypted defaults; null without one. */
  survey: Survey | null;
  /** True if the template prompts for variables of any name. */
  acceptsAny: boolean;
  /** True if launches can set connection variables. */
  allowsConnectionVars: boolean;
  /** Variables of the launch request. */
  sent: Readonly<Record<string, unknown>>;
  /** Variables that override all others, even if the template does not prompt for variables. */
  forced?: Readonly<Record<string, unknown>>;
  /** Names of secret variables besides the passwords of the survey. */
  secretNames?: readonly string[];
  /** True if the answers were validated by an earlier launch. */
  isRelaunch?: boolean;
}

export interface MergedVariables {
  /**
   * Variables of the job, merged in ascending precedence: template, survey defaults, launch,
   * forced.
   */
  variables: Record<string, unknown>;
  accepted: Record<string, unknown>;
  ignored: Record<string, unknown>;
  secrets: string[];
  errors: FieldErrors;
}

/**
 * Returns the variables of a run whose launch sets none: the template's, overridden by survey
 * defaults.
 */
export const defaultVariables = (
  template: Readonly<Record<string, unknown>>,
  survey: Survey | null,
): Record<string, unknown> => mergeExact(template, survey ? defaultAnswers(survey) : {});

/** Merges the variables of a launch (docs/contract/launching.md#variables). */
export function mergeVariables(sources: VariableSources): MergedVariables {
  const {
    template,
    survey,
    acceptsAny,
    allowsConnectionVars,
    sent,
    forced = {},
    secretNames = [],
    isRelaunch = false,
  } = sources;
  const questions = new Set(survey?.spec.map(({ variable }) => variable));
  const passwords = new Set(survey ? secretVariables(survey) : []);
  const isAccepted = (name: string): boolean =>
    acceptsAny || isRelaunch || questions.has(name) || Object.hasOwn(forced, name);
  const accepted = mergeExact(sent, forced);
  const ignored: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(accepted)) {
    // A password that is sent back in its masked form selects the default, as does null for any question.
    const isDefault =
      (passwords.has(name) && value === ENCRYPTED) ||
      (questions.has(name) && value === null && !isRelaunch);
    if (!isDefault && isAccepted(name)) continue;
    if (!isDefault) ignored[name] = value;
    delete accepted[name];
  }
  const defaults = defaultVariables(template, survey);
  const variables = mergeExact(defaults, accepted);
  return {
    variables,
    accepted,
    ignored,
    secrets: [...new Set([...passwords, ...secretNames])].filter((name) =>
      Object.hasOwn(variables, name),
    ),
    errors: variableErrors({
      answers: survey && !isRelaunch ? answerErrors(survey, accepted, secretNames) : [],
      variables: [
        ...(isRelaunch ? [] : maskedNames(accepted).map(reservedWordFault)),
        ...connectionFaults(accepted, {
          isOpen: allowsConnectionVars,
          defaults,
          ...(isRelaunch ? {} : { secrets: passwords }),
        }),
      ],
    }),
  };
}

/** Returns the error text for a variable whose value is the mask of secrets. */
export const reservedWordFault = (name: string): string =>
  `"${ENCRYPTED}" is a reserved keyword, may not be used for ${name}.`;

/** Returns the faults of variables by the launch fields that report them. */
export const variableErrors = ({ answers, variables }: VariableFaults): FieldErrors => ({
  ...(answers.length > 0 ? { variables_needed_to_start: answers } : {}),
  ...(variables.length > 0 ? { extra_vars: variables } : {}),
});

interface VariableFaults {
  /** Error texts about answers to the survey. */
  answers: string[];
  /** Error texts about other variables. */
  variables: string[];
}

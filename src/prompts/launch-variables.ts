import type { FieldErrors } from '../common/errors/errors.js';
import { answerErrors, defaultAnswers, ENCRYPTED, secretVariables, type Survey } from './survey.js';

export interface VariableSources {
  /** Variables of the template itself. */
  template: Readonly<Record<string, unknown>>;
  /** The survey when it is switched on, its defaults in clear. */
  survey: Survey | null;
  /** The template asks for variables of any name. */
  asks: boolean;
  /** Variables the launch sends. */
  sent: Readonly<Record<string, unknown>>;
  /** Set on top of all others, whether the template asks for them or not. */
  forced?: Readonly<Record<string, unknown>>;
  /** Names of variables that are secret besides the passwords of the survey. */
  secretNames?: readonly string[];
  /** The answers were checked by an earlier launch. */
  isRelaunch?: boolean;
}

export interface MergedVariables {
  /** What the job runs with, low to high: template, survey defaults, launch, forced. */
  variables: Record<string, unknown>;
  accepted: Record<string, unknown>;
  ignored: Record<string, unknown>;
  /** Names among `variables` whose values are secret. */
  secrets: string[];
  errors: FieldErrors;
}

/** Merges the variables of a launch (docs/contract/launching.md#variables). */
export function mergeVariables(sources: VariableSources): MergedVariables {
  const {
    template,
    survey,
    asks,
    sent,
    forced = {},
    secretNames = [],
    isRelaunch = false,
  } = sources;
  const questions = new Set(survey?.spec.map(({ variable }) => variable));
  const passwords = new Set(survey ? secretVariables(survey) : []);
  const isAccepted = (name: string): boolean =>
    asks || isRelaunch || questions.has(name) || Object.hasOwn(forced, name);
  const entries = Object.entries({ ...sent, ...forced }).filter(
    // A password sent back as it was shown stands for the default.
    ([name, value]) => !(passwords.has(name) && value === ENCRYPTED),
  );
  const accepted = Object.fromEntries(entries.filter(([name]) => isAccepted(name)));
  const ignored = Object.fromEntries(entries.filter(([name]) => !isAccepted(name)));
  const defaults = survey ? defaultAnswers(survey) : {};
  const variables = { ...template, ...defaults, ...accepted };
  return {
    variables,
    accepted,
    ignored,
    secrets: [...new Set([...passwords, ...secretNames])].filter((name) =>
      Object.hasOwn(variables, name),
    ),
    errors: isRelaunch ? {} : variableErrors(survey, accepted),
  };
}

function variableErrors(survey: Survey | null, accepted: Record<string, unknown>): FieldErrors {
  const answers = survey ? answerErrors(survey, accepted) : [];
  const reserved = Object.keys(accepted).filter((name) => accepted[name] === ENCRYPTED);
  return {
    ...(answers.length > 0 ? { variables_needed_to_start: answers } : {}),
    ...(reserved.length > 0
      ? {
          extra_vars: reserved.map(
            (name) => `"${ENCRYPTED}" is a reserved keyword, may not be used for ${name}.`,
          ),
        }
      : {}),
  };
}

import { mergeExact } from '../common/exact-json.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { connectionFaults } from './connection-variables.js';
import { answerErrors, defaultAnswers, secretVariables, type Survey } from './survey.js';

export interface VariableSources {
  /** Variables of the template itself. */
  template: Readonly<Record<string, unknown>>;
  /** The survey when it is switched on, its defaults in clear. */
  survey: Survey | null;
  /** The template asks for variables of any name. */
  asks: boolean;
  /** The template takes variables that decide how Ansible connects. */
  allowsConnectionVars: boolean;
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

/** What a run has when its launch says nothing: the template's variables, survey defaults over them. */
export const heldVariables = (
  template: Readonly<Record<string, unknown>>,
  survey: Survey | null,
): Record<string, unknown> => mergeExact(template, survey ? defaultAnswers(survey) : {});

/** Merges the variables of a launch (docs/contract/launching.md#variables). */
export function mergeVariables(sources: VariableSources): MergedVariables {
  const {
    template,
    survey,
    asks,
    allowsConnectionVars,
    sent,
    forced = {},
    secretNames = [],
    isRelaunch = false,
  } = sources;
  const questions = new Set(survey?.spec.map(({ variable }) => variable));
  const passwords = new Set(survey ? secretVariables(survey) : []);
  const isAccepted = (name: string): boolean =>
    asks || isRelaunch || questions.has(name) || Object.hasOwn(forced, name);
  const accepted = mergeExact(sent, forced);
  const ignored: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(accepted)) {
    // A password sent back as it was shown stands for the default.
    const isDefault = passwords.has(name) && value === ENCRYPTED;
    if (!isDefault && isAccepted(name)) continue;
    if (!isDefault) ignored[name] = value;
    delete accepted[name];
  }
  const held = heldVariables(template, survey);
  const variables = mergeExact(held, accepted);
  return {
    variables,
    accepted,
    ignored,
    secrets: [...new Set([...passwords, ...secretNames])].filter((name) =>
      Object.hasOwn(variables, name),
    ),
    errors: variableErrors({
      answers: survey && !isRelaunch ? answerErrors(survey, accepted) : [],
      variables: [
        ...(isRelaunch ? [] : reservedWords(accepted)),
        ...connectionFaults(accepted, { isOpen: allowsConnectionVars, held }),
      ],
    }),
  };
}

const reservedWords = (accepted: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(accepted).flatMap((name) =>
    accepted[name] === ENCRYPTED
      ? [`"${ENCRYPTED}" is a reserved keyword, may not be used for ${name}.`]
      : [],
  );

/** Faults of variables by the fields in which a launch tells them. */
export const variableErrors = ({ answers, variables }: VariableFaults): FieldErrors => ({
  ...(answers.length > 0 ? { variables_needed_to_start: answers } : {}),
  ...(variables.length > 0 ? { extra_vars: variables } : {}),
});

interface VariableFaults {
  /** Texts about answers to the survey. */
  answers: string[];
  /** Texts about any variables. */
  variables: string[];
}

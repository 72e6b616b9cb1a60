import { Bool, columnOf, declareFields, type Field } from '../common/fields/field.js';
import {
  LAUNCH_OPTIONS,
  PROMPT_FIELDS,
  promptsIn,
  type LaunchOption,
  type PromptField,
  type Prompts,
} from './launch-options.js';

/** Launch fields with a column: lists have tables of their own, variables have special columns. */
const STORED = LAUNCH_OPTIONS.filter(
  ({ field: { column, kind } }) => column !== null && kind !== 'variables',
);
const INHERITED = STORED.filter(({ inWorkflows }) => inWorkflows);
const IN_WORKFLOWS = LAUNCH_OPTIONS.filter(({ inWorkflows }) => inWorkflows);
const VARIABLES = LAUNCH_OPTIONS.flatMap(({ field }) =>
  field.kind === 'variables' ? [field] : [],
);

/** Returns the field with null for "not set". */
export const optional = (field: Field): Field => ({
  ...field,
  nullable: true,
  default: field.nullable ? field.default : null,
});

/** Returns the field in the form in which a run shows its launch options. */
const readOnlyField = ({ field, ofRun }: LaunchOption): Field => ({
  ...optional(field),
  readOnly: true,
  min: null,
  needs: null,
  ...ofRun,
});

/** Returns the switch fields of a template. */
const switches = (options: readonly LaunchOption[]): readonly Field[] =>
  declareFields({
    ...Object.fromEntries(
      options.map((option) => [
        option.switch,
        Bool({ help: `If true, launches can set \`${option.name}\`.` }),
      ]),
    ),
    allow_connection_vars: Bool({
      help: 'Allow launches to set variables that control connections or execution of Ansible.',
    }),
  });

/** Fields of a job template with its own values of the launch options. */
export const TEMPLATE_OPTIONS: readonly Field[] = LAUNCH_OPTIONS.flatMap(({ field, ofTemplate }) =>
  field.column === null ? [] : [{ ...field, ...ofTemplate }],
);
/** Switches of a job template. */
export const TEMPLATE_SWITCHES = switches(LAUNCH_OPTIONS);

/** Fields of a workflow job template with values for nodes that prompt for them; null: none. */
export const WORKFLOW_OPTIONS: readonly Field[] = [
  ...VARIABLES,
  ...INHERITED.map(({ field, ofWorkflow }) => ({ ...optional(field), ...ofWorkflow })),
];
/** Switches of a workflow job template. */
export const WORKFLOW_SWITCHES = switches(IN_WORKFLOWS);

/** Launch fields of a node or a schedule; null or an empty text: not set. */
export const SAVED_OPTIONS: readonly Field[] = STORED.map(({ field }) => ({
  ...optional(field),
  blank: true,
}));
/** Launch fields of a workflow job's node. */
export const NODE_RUN_OPTIONS = STORED.map(readOnlyField);
/** Launch options of a workflow job. */
export const WORKFLOW_RUN_OPTIONS = INHERITED.map((option): Field => ({
  ...readOnlyField(option),
  onDelete: 'SET NULL',
}));

type Stored = readonly (readonly [field: PromptField, column: string])[];

const columns = (options: readonly LaunchOption[]): Stored =>
  options.map(({ name, field }) => [name, columnOf(field)]);

/** Launch fields with columns in templates, saved launches and runs. */
export const STORED_PROMPTS = columns(STORED);

/** Launch fields of a workflow, which apply to its runs. */
export const INHERITED_PROMPTS = columns(INHERITED);

/** Returns the launch fields of a row that are set. */
export const storedPrompts = (
  row: Readonly<Record<string, unknown>>,
  stored: Stored = STORED_PROMPTS,
): Prompts => promptsIn(Object.fromEntries(stored.map(([field, column]) => [field, row[column]])));

const withoutEmpty = (prompts: Prompts): Prompts =>
  promptsIn(
    prompts,
    PROMPT_FIELDS.filter((name) => prompts[name] !== ''),
  );

/** Returns the launch fields that a saved launch sets. An empty text means the template's value. */
export const savedPrompts = (row: Readonly<Record<string, unknown>>): Prompts =>
  withoutEmpty(storedPrompts(row));

/** Returns the columns of launch fields, null for those that are not set. */
export const columnsOfPrompts = (
  prompts: Prompts,
  stored: Stored = STORED_PROMPTS,
): Record<string, unknown> =>
  Object.fromEntries(stored.map(([field, column]) => [column, prompts[field] ?? null]));

/** Returns the prompts of a workflow that apply to its runs. */
export const inheritedPrompts = (prompts: Prompts): Prompts =>
  promptsIn(
    withoutEmpty(prompts),
    INHERITED.map(({ name }) => name),
  );

/** Values of options that neither the template nor the launch of a job sets. */
export const OPTION_DEFAULTS = promptsIn(
  Object.fromEntries(STORED.map(({ name, field }) => [name, field.default])),
);

const destinationsOf = (options: readonly LaunchOption[]): readonly string[] => [
  ...options.flatMap(({ redirects, name }) => (redirects === true ? [name] : [])),
  ...switches(options).map(({ name }) => name),
  'survey_spec',
];

/** Returns the names of the fields in the prompts section of a template's page. */
const promptSection = (switches: readonly Field[]): readonly string[] => [
  'survey_enabled',
  ...switches.map(({ name }) => name),
];
export const TEMPLATE_PROMPT_SECTION = promptSection(TEMPLATE_SWITCHES);
export const WORKFLOW_PROMPT_SECTION = promptSection(WORKFLOW_SWITCHES);

/**
 * Fields that determine what receives the credentials of runs, and fields that let a launch
 * determine the receiver: the switches, and the survey, whose answers are variables.
 */
export const TEMPLATE_DESTINATIONS = destinationsOf(LAUNCH_OPTIONS);
export const WORKFLOW_DESTINATIONS = destinationsOf(IN_WORKFLOWS);
/**
 * Fields of a saved launch that determine what receives the credentials of runs. The variables of a
 * saved launch have another name, and a saved launch has no switches.
 */
export const SAVED_DESTINATIONS = LAUNCH_OPTIONS.flatMap(({ redirects, name, field }) =>
  redirects === true ? [field.kind === 'variables' ? 'extra_data' : name] : [],
);

/** Columns of a job template that do not affect which playbook runs on which hosts. */
export const HARMLESS_OPTIONS: readonly string[] = LAUNCH_OPTIONS.flatMap((option) => [
  ...(option.safe === 'value' || option.safe === 'both' ? [option.name] : []),
  ...(option.safe === 'switch' || option.safe === 'both' ? [option.switch] : []),
]);

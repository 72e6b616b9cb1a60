import { Bool, columnOf, declareFields, type Field } from '../common/fields/field.js';
import {
  LAUNCH_OPTIONS,
  promptsIn,
  type LaunchOption,
  type PromptField,
  type Prompts,
} from './launch-options.js';

/** Launch fields with a column: lists stand in tables of their own, variables beside the others. */
const STORED = LAUNCH_OPTIONS.filter(
  ({ field: { column, kind } }) => column !== null && kind !== 'variables',
);
const HANDED_DOWN = STORED.filter(({ inWorkflows }) => inWorkflows);
const VARIABLES = LAUNCH_OPTIONS.flatMap(({ field }) =>
  field.kind === 'variables' ? [field] : [],
);

/** Null stands for "not set". */
export const optional = (field: Field): Field => ({
  ...field,
  nullable: true,
  default: field.nullable ? field.default : null,
  onDelete: 'SET NULL',
});

/** As a run shows what it was launched with. */
const shown = ({ field, ofRun }: LaunchOption): Field => ({
  ...optional(field),
  readOnly: true,
  help: '',
  min: null,
  needs: null,
  ...ofRun,
});

/** What a template says about its launches. */
const switches = (options: readonly LaunchOption[]): readonly Field[] =>
  declareFields([
    ...options.map((option) => [option.switch, Bool()] as const),
    [
      'allow_connection_vars',
      Bool({
        help: 'Launches may bring variables that decide how Ansible connects or what it executes.',
      }),
    ],
  ]);

/** A job template's own values of the launch fields. */
export const TEMPLATE_OPTIONS: readonly Field[] = LAUNCH_OPTIONS.flatMap(({ field, ofTemplate }) =>
  field.column === null ? [] : [{ ...field, ...ofTemplate }],
);
/** What a job template lets a launch set. */
export const TEMPLATE_SWITCHES = switches(LAUNCH_OPTIONS);

/** Values a workflow job template hands to the nodes that ask for them; null: none. */
export const WORKFLOW_OPTIONS: readonly Field[] = [
  ...VARIABLES,
  ...HANDED_DOWN.map(({ field, ofWorkflow }) => ({ ...optional(field), ...ofWorkflow })),
];
/** What a workflow job template lets a launch set. */
export const WORKFLOW_SWITCHES = switches(LAUNCH_OPTIONS.filter(({ inWorkflows }) => inWorkflows));

/** Launch fields that a saved launch sets, of a node or a schedule; null: not set. */
export const SAVED_OPTIONS: readonly Field[] = STORED.map(({ field }) => optional(field));
/** The same as the node of a workflow job shows them. */
export const NODE_RUN_OPTIONS = STORED.map(shown);
/** What a workflow job was launched with. */
export const WORKFLOW_RUN_OPTIONS = HANDED_DOWN.map(shown);

type Stored = readonly (readonly [field: PromptField, column: string])[];

const columns = (options: readonly LaunchOption[]): Stored =>
  options.map(({ name, field }) => [name, columnOf(field)]);

const types = (options: readonly LaunchOption[]): Readonly<Record<string, string>> =>
  Object.fromEntries(options.map(({ field }) => [columnOf(field), field.columnType]));

/** Launch fields that templates, saved launches and runs have columns of. */
export const STORED_PROMPTS = columns(STORED);
export const STORED_TYPES = types(STORED);

/** Those of a workflow, which reach the runs in it. */
export const HANDED_PROMPTS = columns(HANDED_DOWN);
export const HANDED_TYPES = types(HANDED_DOWN);

/** The launch fields that a row has columns of, as far as they are set. */
export const storedPrompts = (
  row: Readonly<Record<string, unknown>>,
  stored: Stored = STORED_PROMPTS,
): Prompts => promptsIn(Object.fromEntries(stored.map(([field, column]) => [field, row[column]])));

/** The columns that keep launch fields, null for those that are not set. */
export const columnsOfPrompts = (
  prompts: Prompts,
  stored: Stored = STORED_PROMPTS,
): Record<string, unknown> =>
  Object.fromEntries(stored.map(([field, column]) => [column, prompts[field] ?? null]));

/** Values of the columns that keep launch fields, in the order of `STORED_TYPES`. */
export const storedValues = (prompts: Prompts): unknown[] =>
  STORED_PROMPTS.map(([field]) => prompts[field] ?? null);

/** The prompts of a workflow that reach the runs in it. */
export const handedDown = (prompts: Prompts): Prompts =>
  promptsIn(
    prompts,
    HANDED_DOWN.flatMap(({ name }) => (prompts[name] === '' ? [] : [name])),
  );

/** What a job runs with where neither its template nor its launch says otherwise. */
export const OPTION_DEFAULTS = promptsIn(
  Object.fromEntries(STORED.map(({ name, field }) => [name, field.default])),
);

const aimsOf = (options: readonly LaunchOption[]): readonly string[] => [
  ...options.flatMap(({ aims, name }) => (aims === true ? [name] : [])),
  ...switches(options).map(({ name }) => name),
  'survey_spec',
];

/** What of a template is about its questions, under one heading of its page. */
const asking = (switches: readonly Field[]): readonly string[] => [
  'survey_enabled',
  ...switches.map(({ name }) => name),
];
export const TEMPLATE_ASKS = asking(TEMPLATE_SWITCHES);
export const WORKFLOW_ASKS = asking(WORKFLOW_SWITCHES);

/**
 * Fields that decide what the credentials of runs meet, and what lets a launch decide: the switches,
 * and the survey, whose answers are variables.
 */
export const TEMPLATE_AIMS = aimsOf(LAUNCH_OPTIONS);
export const WORKFLOW_AIMS = aimsOf(LAUNCH_OPTIONS.filter(({ inWorkflows }) => inWorkflows));
/** The same of a saved launch, which has other words for its variables and no switches. */
export const SAVED_AIMS = LAUNCH_OPTIONS.flatMap(({ aims, name, field }) =>
  aims === true ? [field.kind === 'variables' ? 'extra_data' : name] : [],
);

/** Columns of a job template which decide nothing about what runs where. */
export const HARMLESS_OPTIONS: readonly string[] = LAUNCH_OPTIONS.flatMap((option) => [
  ...(option.harmless === 'value' || option.harmless === 'both' ? [option.name] : []),
  ...(option.harmless === 'switch' || option.harmless === 'both' ? [option.switch] : []),
]);

import {
  Bool,
  Char,
  Choices,
  fieldsOf,
  Integer,
  Reference,
  References,
  Text,
  Variables,
  type Field,
} from '../common/fields/field.js';
import { entryOf } from '../common/invariants.js';
import { tableOf } from '../common/records.js';
import { JOB_TYPES, MAX_ARGUMENT, VERBOSITIES } from './job-options.js';

export type LaunchTopic = 'what' | 'where' | 'how';

/** Options of one launch field; its field decorator declares the rest. */
interface PromptOptions {
  /**
   * Middle part of the name of the switch that permits a launch to set the field:
   * `ask_<word>_on_launch`.
   */
  ask: string;
  /** Topic of the field on the pages of templates and runs: what runs, on what, or how. */
  about: LaunchTopic;
  /** True if workflow job templates can also prompt for the field. */
  inWorkflows?: boolean;
  /**
   * Parts that do not affect which playbook runs on which hosts: a change of them on a job template
   * requires no role on the project or the inventory.
   */
  safe?: 'value' | 'switch' | 'both';
  /**
   * True if the value determines which playbook gets the credentials of a run, or where they are
   * sent. Variables do, because they control how and where Ansible connects.
   */
  redirects?: true;
  /** Differences of the field on a job template, a workflow job template, or a run. */
  ofTemplate?: Partial<Field>;
  ofWorkflow?: Partial<Field>;
  ofRun?: Partial<Field>;
}

const DECLARED = new Map<string, PromptOptions>();

const Prompt =
  (options: PromptOptions): PropertyDecorator =>
  (_, property) => {
    DECLARED.set(String(property), options);
  };

/**
 * The launch options (docs/contract/launching.md#prompts). Each one is declared here only: its
 * type, its field, and the switch that prompts for it. Templates, saved launches and the bodies of
 * launches take their fields from here. References are ids.
 */
class LaunchOptions {
  @Prompt({ ask: 'inventory', about: 'where', inWorkflows: true, safe: 'switch', redirects: true })
  @Reference('inventory', {
    nullable: true,
    needs: 'use',
    refusal: 'You do not have use_role to the inventory',
    // A run that falls back on another inventory would change the wrong hosts.
    onDelete: 'KEEP',
    help: 'Inventory that the run works on.',
  })
  inventory!: Reference;

  @Prompt({ ask: 'credential', about: 'where', safe: 'switch' })
  @References('credential', { nullable: true, help: 'Credentials of the run.' })
  credentials!: number[];

  @Prompt({ ask: 'variables', about: 'where', inWorkflows: true, safe: 'both', redirects: true })
  @Variables({ filter: false, help: 'Variables, JSON or YAML.' })
  extra_vars!: Record<string, unknown>;

  @Prompt({ ask: 'limit', about: 'where', inWorkflows: true, safe: 'value' })
  @Text({ control: 'line', help: 'Host pattern.' })
  limit!: string;

  @Prompt({ ask: 'tags', about: 'what', inWorkflows: true, safe: 'both', ofRun: { max: null } })
  @Text({ control: 'line', max: MAX_ARGUMENT, help: 'Comma-separated tags to run.' })
  job_tags!: string;

  @Prompt({
    ask: 'skip_tags',
    about: 'what',
    inWorkflows: true,
    safe: 'both',
    ofRun: { kind: 'text', max: null },
  })
  @Char({ max: 1024, help: 'Comma-separated tags to skip.' })
  skip_tags!: string;

  @Prompt({ ask: 'job_type', about: 'what', safe: 'switch' })
  @Choices(JOB_TYPES, { default: 'run', help: 'Run, or check without changes.' })
  job_type!: string;

  @Prompt({ ask: 'verbosity', about: 'how', safe: 'value' })
  @Choices(VERBOSITIES, { default: 0, help: 'Level of detail of the output.' })
  verbosity!: number;

  @Prompt({ ask: 'diff_mode', about: 'how', safe: 'value' })
  @Bool({ help: 'If true, the output shows the differences in changed files.' })
  diff_mode!: boolean;

  @Prompt({
    ask: 'scm_branch',
    about: 'what',
    inWorkflows: true,
    redirects: true,
    ofTemplate: { help: 'Branch, if the project allows a choice.' },
    ofWorkflow: { help: 'Branch, for projects that allow a choice.' },
  })
  @Char({ max: 1024, help: 'Branch, tag or commit.' })
  scm_branch!: string;

  @Prompt({ ask: 'forks', about: 'how', safe: 'value' })
  @Integer({
    min: 0,
    default: 0,
    help: 'Number of hosts that Ansible processes in parallel; 0 for the default of Ansible.',
  })
  forks!: number;

  @Prompt({ ask: 'timeout', about: 'how', safe: 'value' })
  @Integer({ min: -1, default: 0, help: 'Seconds; 0 is the default setting, -1 no limit.' })
  timeout!: number;

  @Prompt({ ask: 'job_slice_count', about: 'how', safe: 'value' })
  @Integer({ min: 0, default: 1, help: 'Number of parts into which the hosts are divided.' })
  job_slice_count!: number;

  @Prompt({
    ask: 'execution_environment',
    about: 'where',
    // The image gets the credentials of the run.
    redirects: true,
    // The index is declared for all templates.
    ofTemplate: { index: false },
  })
  @Reference('execution_environment', {
    nullable: true,
    index: 'where set',
    help: 'Image that the run is executed in; empty for the default.',
  })
  execution_environment!: Reference;

  @Prompt({ ask: 'labels', about: 'how', inWorkflows: true })
  @References('label', { nullable: true, help: 'Labels added to the run.' })
  labels!: number[];

  @Prompt({ ask: 'instance_groups', about: 'where' })
  @References('instance_group', {
    nullable: true,
    help: 'Instance groups, best first.',
  })
  instance_groups!: number[];
}

export type PromptField = keyof LaunchOptions;

/** Launch fields with lists of objects. */
export type PromptList = 'credentials' | 'labels' | 'instance_groups';

/** Launch fields that workflows pass to their runs, stored in columns of their own. */
type Inherited = 'inventory' | 'limit' | 'job_tags' | 'skip_tags' | 'scm_branch';

/** Launch fields of a saved launch or a run: those with a column; null: not set. */
export type SavedOptions = {
  [Name in Exclude<PromptField, PromptList | 'extra_vars'>]: LaunchOptions[Name] | null;
};
/** Launch fields of a workflow, by name. */
export type InheritedOptions = Pick<SavedOptions, Inherited>;
/** Launch fields of a workflow job template, which also has variables, as text. */
export type WorkflowOptions = InheritedOptions & { extra_vars: string };
type Unset = 'inventory' | 'execution_environment';
/** Launch fields of a job template: only references can be unset. */
export type TemplateOptions = Pick<SavedOptions, Unset> & {
  [Name in Exclude<keyof SavedOptions, Unset>]: LaunchOptions[Name];
} & { extra_vars: string };

export type Prompts = { -readonly [Name in PromptField]?: LaunchOptions[Name] };

/** A declared launch field. */
export interface LaunchOption extends PromptOptions {
  name: PromptField;
  /** Field of a job template. */
  field: Field;
  /** Switch that permits a launch to set the field. */
  switch: string;
}

const switchOf = ({ ask }: PromptOptions): string => `ask_${ask}_on_launch`;

export const LAUNCH_OPTIONS: readonly LaunchOption[] = fieldsOf(LaunchOptions).map((field) => {
  const options = entryOf(DECLARED, field.name);
  return {
    ...options,
    field,
    name: field.name as PromptField,
    switch: switchOf(options),
  };
});

export const PROMPT_FIELDS: readonly PromptField[] = LAUNCH_OPTIONS.map(({ name }) => name);

/** Returns the launch fields of a topic that have a column. */
export const launchFieldsOf = (
  topic: LaunchTopic,
  filter: (option: LaunchOption) => boolean = () => true,
): readonly PromptField[] =>
  LAUNCH_OPTIONS.filter(
    (option) => option.about === topic && option.field.column !== null && filter(option),
  ).map(({ name }) => name);

/** Switch of the template for each launch field. */
export const ASK_SWITCHES: Readonly<Record<PromptField, string>> = tableOf(PROMPT_FIELDS, (name) =>
  switchOf(entryOf(DECLARED, name)),
);

/** Returns the switches of a template for some launch fields. */
export const switchesOf = (
  template: Readonly<Record<string, unknown>>,
  fields: readonly PromptField[],
): Record<string, boolean> =>
  Object.fromEntries(
    fields.map((field) => [ASK_SWITCHES[field], template[ASK_SWITCHES[field]] === true]),
  );

/** Launch fields that a workflow job template can prompt for. */
export const WORKFLOW_PROMPTS: readonly PromptField[] = LAUNCH_OPTIONS.filter(
  ({ inWorkflows }) => inWorkflows,
).map(({ name }) => name);

/** Launch fields with lists of objects. */
export const PROMPT_LISTS: readonly PromptList[] = ['credentials', 'labels', 'instance_groups'];

/** Launch fields that refer to objects. */
export const OBJECT_FIELDS = [
  'inventory',
  'credentials',
  'labels',
  'instance_groups',
  'execution_environment',
] as const satisfies readonly PromptField[];
export type ObjectField = (typeof OBJECT_FIELDS)[number];

/** Returns the ids of the objects in a field of any of the prompts. */
export const objectIds = (all: readonly Prompts[], field: ObjectField): number[] => [
  ...new Set(all.flatMap((prompts) => prompts[field] ?? [])),
];

/** Returns the ids of all objects that prompts refer to. */
export const referencesIn = (all: readonly Prompts[]): Record<ObjectField, number[]> =>
  tableOf(OBJECT_FIELDS, (field) => objectIds(all, field));

/** Returns the non-empty lists of a saved launch. */
export const listsIn = (lists: Readonly<Record<PromptList, number[]>>): Prompts =>
  promptsIn(
    lists,
    PROMPT_LISTS.filter((name) => lists[name].length > 0),
  );

/**
 * Returns the launch fields of a record that have a value. Rows and validated bodies have the types
 * of the declaration, so the result is not validated again.
 */
export function promptsIn(
  record: Readonly<Record<string, unknown>>,
  fields: readonly PromptField[] = PROMPT_FIELDS,
): Prompts {
  const entries = fields.flatMap((name) => {
    const value = record[name];
    return value === undefined || value === null ? [] : [[name, value]];
  });
  return Object.fromEntries(entries) as Prompts;
}

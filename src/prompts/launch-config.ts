/**
 * Launch field -> switch of the template that lets a launch set it
 * (docs/contract/launching.md#prompts).
 */
export const ASK_SWITCHES = {
  scm_branch: 'ask_scm_branch_on_launch',
  diff_mode: 'ask_diff_mode_on_launch',
  extra_vars: 'ask_variables_on_launch',
  limit: 'ask_limit_on_launch',
  job_tags: 'ask_tags_on_launch',
  skip_tags: 'ask_skip_tags_on_launch',
  job_type: 'ask_job_type_on_launch',
  verbosity: 'ask_verbosity_on_launch',
  inventory: 'ask_inventory_on_launch',
  credentials: 'ask_credential_on_launch',
  execution_environment: 'ask_execution_environment_on_launch',
  labels: 'ask_labels_on_launch',
  forks: 'ask_forks_on_launch',
  job_slice_count: 'ask_job_slice_count_on_launch',
  timeout: 'ask_timeout_on_launch',
  instance_groups: 'ask_instance_groups_on_launch',
} as const;

export type PromptField = keyof typeof ASK_SWITCHES;
export const PROMPT_FIELDS = Object.keys(ASK_SWITCHES) as readonly PromptField[];

/** Values a launch sets, by launch field. References are ids, `extra_vars` is an object. */
export type Prompts = Partial<Record<PromptField, unknown>>;

/** What the rules need to know of a template: its own values and its switches. */
export interface PromptedTemplate {
  /** Whether the template's switch for a field is on. */
  asks(field: PromptField): boolean;
  /** The template's own value of each field; `extra_vars` is not read here. */
  own: Prompts;
  /** Branch of the project: naming it explicitly is no choice of another one. */
  projectBranch: string;
}

/** How the fields of one launch fall out; variables are merged by `mergeVariables`. */
export interface MergedPrompts {
  /** Set by the launch and differing from the template. */
  accepted: Prompts;
  /** Sent, differing from the template, and not asked for. */
  ignored: Prompts;
}

/**
 * Tells fields that a launch may set from those it may not. A field sent with the template's own value
 * is neither: nothing changes by it. Not asking is no error: the value is reported as ignored.
 */
export function mergePrompts(template: PromptedTemplate, prompts: Prompts): MergedPrompts {
  const accepted: Prompts = {};
  const ignored: Prompts = {};
  for (const field of PROMPT_FIELDS) {
    const value = prompts[field];
    if (field === 'extra_vars' || value === undefined || value === null) continue;
    if (isOwn(template, field, value)) continue;
    (template.asks(field) ? accepted : ignored)[field] = value;
  }
  return { accepted, ignored };
}

function isOwn(template: PromptedTemplate, field: PromptField, value: unknown): boolean {
  const own = template.own[field];
  if (Array.isArray(value)) return sameSet(value, Array.isArray(own) ? own : []);
  if (value === own) return true;
  return field === 'scm_branch' && (own ?? '') === '' && value === template.projectBranch;
}

const sameSet = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((one) => right.includes(one));

import { PROMPT_FIELDS, promptsIn, type PromptField, type Prompts } from './launch-options.js';

/** What the rules need to know of a template: its own values and its switches. */
export interface PromptedTemplate {
  /** Whether the template's switch for a field is on. */
  asks(field: PromptField): boolean;
  /** The template's own value of each field; `extra_vars` is not read here. */
  own: Prompts;
  /** Variables of the template itself. */
  ownVariables(): Readonly<Record<string, unknown>>;
  /** Launches may bring variables that decide how Ansible connects. */
  allowsConnectionVars: boolean;
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
  const changed = PROMPT_FIELDS.filter((field) => {
    const value = prompts[field];
    return field !== 'extra_vars' && value !== undefined && !isOwn(template, field, value);
  });
  return {
    accepted: promptsIn(
      prompts,
      changed.filter((field) => template.asks(field)),
    ),
    ignored: promptsIn(
      prompts,
      changed.filter((field) => !template.asks(field)),
    ),
  };
}

function isOwn(template: PromptedTemplate, field: PromptField, value: unknown): boolean {
  const own = template.own[field];
  if (Array.isArray(value)) return sameSet(value, Array.isArray(own) ? own : []);
  if (value === own) return true;
  return field === 'scm_branch' && (own ?? '') === '' && value === template.projectBranch;
}

const sameSet = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((one) => right.includes(one));

import { isDeepStrictEqual } from 'node:util';
import { PROMPT_FIELDS, promptsIn, type PromptField, type Prompts } from './launch-options.js';

/** The data of a template that determines which prompts are accepted. */
export interface PromptedTemplate {
  /** Returns true if the template's switch for a field is on. */
  promptsFor(field: PromptField): boolean;
  /** The template's own value of each field; `extra_vars` is not read here. */
  values: Prompts;
  /** Returns the variables of the template itself. */
  variables(): Readonly<Record<string, unknown>>;
  /** True if launches can set connection variables. */
  allowsConnectionVars: boolean;
  /** Branch of the project; a launch that names this branch changes nothing. */
  projectBranch: string;
}

/** The accepted and ignored fields of a launch; variables are merged by `mergeVariables`. */
export interface MergedPrompts {
  /** Fields of the launch that are accepted and differ from the template. */
  accepted: Prompts;
  /** Fields of the launch that differ from the template, which does not prompt for them. */
  ignored: Prompts;
}

/**
 * Separates the fields that a launch can set from the fields that it cannot set. A field with the
 * template's own value is in neither group, because it changes nothing. A field that the template
 * does not prompt for is not an error: the launch reports the field as ignored.
 */
export function mergePrompts(template: PromptedTemplate, prompts: Prompts): MergedPrompts {
  const changed = PROMPT_FIELDS.filter((field) => {
    const value = prompts[field];
    return (
      field !== 'extra_vars' && value !== undefined && !isTemplateValue(template, field, value)
    );
  });
  const accepted = changed.filter((field) => template.promptsFor(field));
  const ignored = changed.filter((field) => !template.promptsFor(field));
  return { accepted: promptsIn(prompts, accepted), ignored: promptsIn(prompts, ignored) };
}

function isTemplateValue(template: PromptedTemplate, field: PromptField, value: unknown): boolean {
  const current = template.values[field];
  if (Array.isArray(value)) {
    const list = Array.isArray(current) ? current : [];
    // The order of instance groups decides where the run is placed.
    return field === 'instance_groups' ? isDeepStrictEqual(value, list) : sameSet(value, list);
  }
  if (value === current) return true;
  return field === 'scm_branch' && (current ?? '') === '' && value === template.projectBranch;
}

const sameSet = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((item) => right.includes(item));

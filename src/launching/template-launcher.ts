import type { Actor } from '../common/access.js';
import { NotFound } from '../common/errors/errors.js';
import type { Field } from '../common/fields/field.js';
import { launchForm, launchPromptsOf, type LaunchResponse } from '../prompts/launch-form.js';
import type { Survey } from '../prompts/survey.js';
import { Launcher, type LaunchCheck, type RunRequest } from '../runs/launcher.js';
import type { PromptField, Prompts } from '../prompts/launch-options.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Job } from '../runs/job.entity.js';

/** A request to launch a template that can have prompts. */
export interface LaunchRequest extends RunRequest {
  /**
   * Launch fields by name, with their types; fields that the template does not prompt for are
   * ignored and reported.
   */
  prompts: Prompts;
  /** Launch fields that apply even if the template does not prompt for them. */
  forcedFields?: readonly PromptField[];
  /** Passwords for `passwords_needed_to_start`, by name. */
  credentialPasswords?: Readonly<Record<string, string>>;
  /** Variables that override all others, even if the template does not prompt for variables. */
  extraVars?: Readonly<Record<string, unknown>>;
  /** Variables of a workflow job that are artifacts of surrounding runs. */
  artifactNames?: readonly string[];
  /** Names of secret variables besides the passwords of the template's survey. */
  secretNames?: readonly string[];
  /** Ref of an event: used if project and template permit another branch, otherwise ignored. */
  scmBranch?: string | null;
  /** True to create the run as `new`; it starts once it is approved (`HeldRuns`). */
  isHeld?: boolean;
  /**
   * Slice of the hosts for this job, numbered from 1; number 0: all hosts. Without this property
   * the template's slice count applies.
   */
  slice?: { number: number; count: number };
  /**
   * True if the prompts were accepted by an earlier launch of the same template and apply
   * unchanged.
   */
  isRelaunch?: boolean;
  /** Execution environment of the run that is launched again, as of its creation. */
  environment?: Pick<RowOf<Job>, 'execution_environment_id' | 'environment'>;
  /** Name of the job; default: the template's name. */
  name?: string;
}

/** The requirements and prompts of a template's launch. */
export interface TemplateNeeds {
  /** Response to GET. */
  response: LaunchResponse;
  survey: Survey | null;
}

/** Launches templates of a kind that can have prompts. */
export abstract class TemplateLauncher<Plan extends LaunchCheck = LaunchCheck> extends Launcher<
  LaunchRequest,
  Plan
> {
  /** Loads the requirements and prompts of one template's launch. */
  abstract needs(templateId: number, actor: Actor): Promise<TemplateNeeds>;

  /** Returns the fields of the launch form: the template's prompts. */
  async form(templateId: number, actor: Actor): Promise<Field[]> {
    const { response, survey } = await this.needs(templateId, actor);
    return launchForm(launchPromptsOf(response), survey);
  }
}

/**
 * @param model name of the kind of template
 * @throws NotFound if another request has deleted the template
 */
export function loadedTemplate<Template>(
  templates: ReadonlyMap<number, Template>,
  id: number,
  model: string,
): Template {
  const template = templates.get(id);
  if (!template) throw new NotFound(`No ${model} matches the given query.`);
  return template;
}

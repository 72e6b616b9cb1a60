import type { Actor } from '../common/access.js';
import type { Field } from '../common/fields/field.js';
import { launchForm, needsOf, type LaunchAnswer } from '../prompts/launch-form.js';
import type { Survey } from '../prompts/survey.js';
import { Launcher, type LaunchCheck } from '../runs/launcher.js';
import type { LaunchRequest } from './launch-request.js';

/** The requirements and prompts of a template's launch. */
export interface TemplateNeeds {
  /** Response to GET. */
  answer: LaunchAnswer;
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
    const { answer, survey } = await this.needs(templateId, actor);
    return launchForm(needsOf(answer), survey);
  }
}

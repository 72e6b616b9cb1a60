import { Injectable } from '@nestjs/common';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { promptedOf } from './launch-check.js';
import { LaunchLoader } from './launch.loader.js';
import type { PromptedTemplate } from '../prompts/launch-config.js';
import {
  SavedLaunchTargets,
  type LaunchCredential,
  type SavedLaunchTarget,
} from '../prompts/saved-launch-targets.js';
import type { Refusal } from '../prompts/saved-prompt-errors.js';
import { variableFaults } from '../system-jobs/system-job-variables.js';
import { workflowPrompted } from './workflow-launch-check.js';

/** A template without prompts, such as the update of a project. */
const NO_PROMPTS: PromptedTemplate = {
  promptsFor: () => false,
  values: {},
  variables: () => ({}),
  allowsConnectionVars: false,
  projectBranch: '',
};

const NOT_PROMPTED: Refusal = {
  field: 'Field is not configured to prompt on launch.',
  variables: (names) =>
    `Variables ${names.join(', ')} are not allowed on launch. Check the Prompt on Launch ` +
    'setting on the Template to include Extra Variables.',
};
const NOT_ALLOWED = 'Field is not allowed on launch.';
/** Error texts that clients expect for templates without switches, by type. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  inventory_source: { field: NOT_ALLOWED, variables: () => NOT_ALLOWED },
};

@Injectable()
export class LaunchTargets extends SavedLaunchTargets {
  constructor(
    private readonly templateRows: TemplatesRepository,
    private readonly loader: LaunchLoader,
  ) {
    super();
  }

  async credentials(ids: readonly number[]): Promise<Map<number, LaunchCredential>> {
    return (await this.loader.load({ credentials: ids }, null)).credentials;
  }

  async templates(ids: readonly number[]): Promise<Map<number, SavedLaunchTarget>> {
    const rows = await this.templateRows.typesOf(ids);
    const ofType = (type: string): number[] =>
      rows.filter((row) => row.type === type).map(({ id }) => id);
    const jobs = await this.loader.load({ templates: ofType('job_template') }, null);
    const workflows = await this.loader.workflows(ofType('workflow_job_template'), null);
    return new Map(
      rows.map(({ id, type, name }) => {
        const job = jobs.templates.get(id);
        const workflow = workflows.get(id);
        const prompted = job ? promptedOf(job) : workflow ? workflowPrompted(workflow) : NO_PROMPTS;
        const { survey = null, credentials = [] } = job ?? workflow ?? {};
        const refusal = REFUSALS[type] ?? NOT_PROMPTED;
        const target = { id, type, name, prompted, refusal, survey, credentials };
        return [id, type === 'system_job_template' ? { ...target, variableFaults } : target];
      }),
    );
  }
}

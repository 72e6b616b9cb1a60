import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { existing, zip } from '../common/invariants.js';
import { partsBySize } from '../common/parts.js';
import { Yielder } from '../common/yielder.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { referencesIn } from '../prompts/launch-options.js';
import type { LaunchResult } from '../runs/launcher.js';
import { WorkflowRows } from '../workflows/workflow-rows.service.js';
import { settleAll } from '../database/settle-all.js';
import { planLaunch } from './launch-check.js';
import { LaunchLoader } from './launch.loader.js';
import { LaunchRows, type NumberedLaunch } from './launch-rows.service.js';
import {
  loadedTemplate,
  type LaunchRequest,
  TemplateLauncher,
  type TemplateNeeds,
} from './template-launcher.js';
import { describeLaunch } from './launch-needs.js';
import { sizeOfSlices, slicedJobOf } from './sliced-jobs.js';

/** Name of the kind of template in error texts. */
const MODEL = 'JobTemplate';

/** Launches job templates: as jobs, or in slices as workflow jobs. */
@Injectable()
export class JobLauncher extends TemplateLauncher<NumberedLaunch> {
  constructor(
    database: Database,
    private readonly loader: LaunchLoader,
    private readonly rows: LaunchRows,
    private readonly settings: Settings,
    private readonly workflows: WorkflowRows,
  ) {
    super(database);
  }

  async needs(templateId: number, actor: Actor): Promise<TemplateNeeds> {
    const { templates } = await this.loader.load({ templates: [templateId] }, actor);
    const template = loadedTemplate(templates, templateId, MODEL);
    return { response: describeLaunch(template), survey: template.survey };
  }

  async start(plans: readonly NumberedLaunch[]): Promise<LaunchResult[]> {
    const sliced = plans.filter(({ slices }) => slices > 1);
    const jobs = await this.rows.write(plans.filter(({ slices }) => slices === 1));
    const workflows: number[] = [];
    for (const part of partsBySize(sliced, sizeOfSlices)) {
      const written = await this.workflows.write(part.map(slicedJobOf));
      workflows.push(...written.map(({ id }) => id));
    }
    const ids = { job: jobs, workflow_job: workflows };
    return plans.map(({ slices, ignored, errors }) => {
      const type = slices === 1 ? 'job' : 'workflow_job';
      const id = existing(ids[type].shift(), 'every plan has a run');
      return { run: { id, type, ignored }, errors };
    });
  }

  async plan(requests: readonly LaunchRequest[], actor: Actor | null): Promise<NumberedLaunch[]> {
    const [objects, ids] = await settleAll([
      this.loader.load(
        {
          templates: [...new Set(requests.map(({ templateId }) => templateId))],
          ...referencesIn(requests.map(({ prompts }) => prompts)),
        },
        actor,
      ),
      this.rows.takeIds(requests.length),
    ]);
    const limits = { maxForks: this.settings.MAX_FORKS };
    const yielder = new Yielder();
    const plans: NumberedLaunch[] = [];
    for (const [request, id] of zip(requests, ids)) {
      const template = loadedTemplate(objects.templates, request.templateId, MODEL);
      plans.push({ ...planLaunch(request, template, objects, limits), id });
      await yielder.yieldIfDue();
    }
    return plans;
  }
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import { keysOf } from '../common/records.js';
import { resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import type { Values } from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { referencedSummaries } from '../common/resource/related-rows.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { JobTemplatesRepository } from '../job-templates/job-templates.repository.js';
import { neededPasswords } from '../launching/launch-check.js';
import { LaunchLoader } from '../launching/launch.loader.js';
import { maskedNames, promptsOf } from '../prompts/launch-secrets.js';
import { RelaunchService } from '../launching/relaunch.service.js';
import { mergePrompts } from '../prompts/launch-config.js';
import { promptsIn, type Prompts } from '../prompts/launch-options.js';
import { STORED_PROMPTS } from '../prompts/prompt-columns.js';
import { SavedLaunchTargets, type SavedLaunchTarget } from '../prompts/saved-launch-targets.js';
import { secretVariables } from '../prompts/survey.js';
import type { Job } from '../runs/job.entity.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { ruleInstant } from './rule-text.js';
import { SchedulesRepository } from './schedules.repository.js';
import { schedules } from './schedules.resource.js';

const TEXTS = {
  passwords: 'Cannot create schedule because job requires credential passwords.',
  legacy: 'Cannot create schedule because the prompts of the job are not known.',
  secrets:
    'Cannot create schedule because the survey does not ask for secret variables of the job.',
  missing: 'Cannot create schedule because a related resource is missing.',
  cleared: 'Cannot create schedule because the job cleared a field of the template.',
} as const;

/** List prompts of a schedule: the type of the objects, and the permission to attach them. */
const LISTS = {
  credentials: { type: 'credential', needs: 'use' },
  labels: { type: 'label', needs: 'read' },
  instance_groups: { type: 'instance_group', needs: 'use' },
} as const;

type ListName = keyof typeof LISTS;
const LIST_NAMES = keysOf(LISTS);

@Injectable()
export class JobSchedules {
  constructor(
    private readonly database: Database,
    private readonly schedules: SchedulesRepository,
    private readonly runs: RunsRepository,
    private readonly templates: JobTemplatesRepository,
    private readonly allTemplates: TemplatesRepository,
    private readonly resources: ResourceService,
    private readonly references: ReferencesService,
    private readonly loader: LaunchLoader,
    private readonly relaunches: RelaunchService,
    private readonly targets: SavedLaunchTargets,
  ) {}

  /** Returns the response to GET, with masked secret answers. */
  async describe(job: RowOf<Job>, actor: Actor): Promise<object> {
    const prompts = promptsOf(job.launch_config);
    const context = { database: this.database, actor };
    const shown: Record<string, unknown> = { ...prompts };
    if (typeof prompts.inventory === 'number') {
      const found = await referencedSummaries(resource('inventory'), [prompts.inventory], context);
      shown.inventory = nameOf(prompts.inventory, found);
    }
    for (const name of LIST_NAMES) {
      if (!(name in prompts)) continue;
      const ids = prompts[name] ?? [];
      const found = await referencedSummaries(resource(LISTS[name].type), ids, context);
      shown[name] = ids.map((id) => nameOf(id, found));
    }
    return { can_schedule: (await this.obstacle(job)) === null, prompts: shown };
  }

  /**
   * Creates a schedule of the job's template with the prompts of the job. The schedule is disabled,
   * monthly and named after the job, so that its author can change it before its first launch.
   *
   * @throws BadRequest if no schedule can be created from the job
   * @throws Invalid if the template no longer accepts the prompts
   * @throws Forbidden if the caller has no permission to use the objects of the prompts
   */
  async create(job: RowOf<Job>, actor: Actor): Promise<Row> {
    return this.database.transaction(async () => {
      const obstacle = await this.obstacle(job);
      if (obstacle !== null) throw new BadRequest(obstacle);
      const prompts = await this.relaunches.formerPrompts(job, actor);
      const lists = await this.listsOf(job, prompts);
      for (const name of LIST_NAMES) {
        const { type, needs } = LISTS[name];
        await this.references.assertAllowed(resource(type), lists[name], needs, actor);
      }
      const row = await this.resources.insert(schedules, await this.valuesOf(job, prompts), actor);
      for (const name of LIST_NAMES) {
        if (lists[name].length > 0) await this.schedules.attach(row.id, name, lists[name]);
      }
      return row;
    });
  }

  /** Returns the reason why no schedule can be created from a job; null if it is possible. */
  private async obstacle(job: RowOf<Job>): Promise<string | null> {
    const credentials = await this.runs.credentialsOf(job.id);
    const loaded = await this.loader.load({ credentials }, null);
    if (neededPasswords([...loaded.credentials.values()]).length > 0) return TEXTS.passwords;
    if (job.unified_job_template_id === null) return TEXTS.missing;
    if (job.launch_config === null) return TEXTS.legacy;
    // The column of a deleted inventory is null; the prompts still contain its id.
    const hasInventory = promptsOf(job.launch_config).inventory !== undefined;
    if (hasInventory && job.inventory_id === null) return TEXTS.missing;
    const templates = await this.targets.templates([job.unified_job_template_id]);
    const template = templates.get(job.unified_job_template_id);
    // Another request has deleted the template.
    if (!template) return TEXTS.missing;
    if (wouldShowSecrets(job, template)) return TEXTS.secrets;
    return clearsField(job, template) ? TEXTS.cleared : null;
  }

  private async valuesOf(job: RowOf<Job>, prompts: Prompts): Promise<Values> {
    const fields = STORED_PROMPTS.map(([field]) => field);
    return {
      ...promptsIn(prompts, fields),
      name: await this.freeName(job),
      unified_job_template: job.unified_job_template_id,
      enabled: false,
      rrule: `DTSTART:${ruleInstant(new Date())} RRULE:FREQ=MONTHLY;INTERVAL=1`,
      extra_data: prompts.extra_vars ?? {},
    };
  }

  /** Returns an unused name. Locks the template, so that two requests cannot use the same name. */
  private async freeName(job: RowOf<Job>): Promise<string> {
    const name = `Auto-generated schedule from job ${job.id}`;
    const templateId = Number(job.unified_job_template_id);
    await this.allTemplates.lock([templateId]);
    const usedNames = new Set(await this.schedules.namesBeginningWith(templateId, name));
    let free = name;
    for (let number = 1; usedNames.has(free); number += 1) free = `${name} - number ${number}`;
    return free;
  }

  /** Returns the lists of the schedule, without credentials that its template already has. */
  private async listsOf(job: RowOf<Job>, prompts: Prompts): Promise<Record<ListName, number[]>> {
    const listed = (name: ListName): number[] => prompts[name] ?? [];
    const templateCredentials = new Set(
      await this.templates.credentialsOf(Number(job.unified_job_template_id)),
    );
    return {
      credentials: listed('credentials').filter((id) => !templateCredentials.has(id)),
      labels: await this.references.lockExisting(resource('label'), listed('labels')),
      instance_groups: await this.references.lockExisting(
        resource('instance_group'),
        listed('instance_groups'),
      ),
    };
  }
}

/** Returns an object with its name if the caller can read it. */
const nameOf = (id: number, found: ReadonlyMap<number, Record<string, unknown>>): object => {
  const name = found.get(id)?.name;
  return name === undefined ? { id } : { id, name };
};

/** Returns true if the job cleared a text of the template, which an empty text of a schedule does not. */
function clearsField(job: RowOf<Job>, { prompted }: SavedLaunchTarget): boolean {
  const { accepted, ignored } = mergePrompts(prompted, promptsOf(job.launch_config));
  return Object.values({ ...accepted, ...ignored }).includes('');
}

/** Returns true if a schedule would show secrets of the job: it hides only secret answers of the survey. */
function wouldShowSecrets(job: RowOf<Job>, { survey }: SavedLaunchTarget): boolean {
  const secrets = maskedNames(promptsOf(job.launch_config).extra_vars);
  const hidden = survey ? secretVariables(survey) : [];
  return secrets.some((name) => !hidden.includes(name));
}

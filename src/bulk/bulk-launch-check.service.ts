import { Injectable } from '@nestjs/common';
import { heldObjects } from '../access/role-ancestors.repository.js';
import { type Actor } from '../common/access.js';
import { mergeExact } from '../common/exact-json.js';
import { invalidPk } from '../common/fields/fault-texts.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import { isOneOf } from '../common/records.js';
import { Yielder } from '../common/yielder.js';
import { Settings } from '../config/settings.js';
import { settleAll } from '../database/settle-all.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { planLaunch, type PlannedLaunch } from '../launching/launch-check.js';
import {
  LaunchLoader,
  type LaunchObjects,
  type LoadedWorkflow,
} from '../launching/launch.loader.js';
import { organizationExists } from '../organizations/organizations.repository.js';
import { OBJECT_FIELDS, referencesIn, type Prompts } from '../prompts/launch-options.js';
import { planWorkflow, type PlannedWorkflow } from '../launching/workflow-launch-check.js';
import { templatesWithRights } from '../templates/templates.repository.js';
import {
  idsOfType,
  objectErrors,
  launchObjectErrors,
  identifierErrors,
  templateErrors,
  removeUnusable,
  type EntryTemplate,
} from './bulk-launch-faults.js';
import type { JobEntry } from './job-entries.js';

/** Parsed bulk launch. */
export interface BulkLaunch {
  name: string;
  description: string;
  /** Organization as sent; null if it was not sent. */
  organizationId: number | null;
  prompts: Prompts;
  entries: readonly JobEntry[];
}

/** Result of checking an entry. */
export interface CheckedEntry {
  entry: JobEntry;
  /** Prompts of the entry, merged over those of the launch. */
  effective: Prompts;
  /** Names of the entry's fields that have no effect. */
  ignored: string[];
  secrets: readonly string[];
}

export interface CheckedLaunch {
  organizationId: number | null;
  entries: CheckedEntry[];
  /** Errors of the launch as a whole. */
  launchErrors: string[];
  entryErrors: FieldErrors[];
  fieldErrors: FieldErrors;
}

interface CallerPermissions {
  templates: EntryTemplate[];
  /** Organizations that the caller is a member of. */
  member_of: number[];
  organization_exists: boolean;
}

/**
 * Rules of a bulk launch (docs/contract/bulk.md#checks-of-a-bulk-launch). Reports all errors together,
 * with a constant number of queries.
 */
@Injectable()
export class BulkLaunchCheck {
  constructor(
    private readonly database: Database,
    private readonly loader: LaunchLoader,
    private readonly settings: Settings,
  ) {}

  async check(launch: BulkLaunch, actor: Actor): Promise<CheckedLaunch> {
    const { entries, prompts } = launch;
    const all = [prompts, ...entries.map((entry) => entry.prompts)];
    const templates = [...new Set(entries.map(({ templateId }) => templateId))];
    const [rights, objects] = await settleAll([
      this.loadPermissions(launch, templates, actor),
      this.loader.load({ templates, ...referencesIn(all) }, actor),
    ]);
    removeUnusable(objects, all);
    const byId = new Map(rights.templates.map((template) => [template.id, template]));
    const workflows = await this.loader.workflows(
      idsOfType(rights.templates, 'workflow_job_template'),
      actor,
    );
    const organization = chooseOrganization(launch, rights, actor);
    const launchErrors = [
      ...identifierErrors(entries),
      ...templateErrors(entries, byId),
      ...organization.faults,
      ...objectErrors(
        entries.map((entry) => entry.prompts),
        objects,
      ),
    ];
    const checked: EntryResult[] = [];
    const plans = new Map<number, Plan | null>();
    const yielder = new Yielder();
    for (const entry of entries) {
      await yielder.yieldIfDue();
      const { templateId } = entry;
      const effective = mergePrompts(prompts, entry.prompts);
      // Entries without their own prompts are planned once per template.
      const isPlanned = effective === prompts && plans.has(templateId);
      const plan = isPlanned
        ? (plans.get(templateId) ?? null)
        : this.plan({ ...entry, prompts: effective }, objects, workflows, actor);
      if (effective === prompts) plans.set(templateId, plan);
      checked.push(
        plan ? checkedAgainst(plan, entry, effective) : checkedUpdate(byId.get(templateId), entry),
      );
    }
    return {
      organizationId: organization.id,
      entries: checked.map(({ result }) => result),
      launchErrors,
      entryErrors: checked.map(({ errors }) => errors),
      fieldErrors: { ...organization.errors, ...launchObjectErrors(prompts, objects) },
    };
  }

  private async loadPermissions(
    launch: BulkLaunch,
    templates: readonly number[],
    actor: Actor,
  ): Promise<CallerPermissions> {
    return this.database.rowOrFail<CallerPermissions>(sql`
      SELECT ARRAY(${heldObjects('organization', 'member_role', actor)}) AS member_of,
        ${organizationExists(sql`${launch.organizationId}::int`)} AS organization_exists,
        (SELECT coalesce(json_agg(found), '[]')
          FROM (${templatesWithRights(templates, actor)}) found) AS templates`);
  }

  /** Returns the plan of an entry's launch; null unless its template is a known job or workflow template. */
  private plan(
    { templateId, prompts, secrets = [] }: JobEntry,
    objects: LaunchObjects,
    workflows: ReadonlyMap<number, LoadedWorkflow>,
    actor: Actor,
  ): Plan | null {
    const request = {
      templateId,
      launchType: 'workflow',
      prompts,
      secretNames: secrets,
      createdBy: actor.id,
    } as const;
    const template = objects.templates.get(templateId);
    const limits = { maxForks: this.settings.MAX_FORKS };
    if (template) return planLaunch(request, template, objects, limits);
    const workflow = workflows.get(templateId);
    return workflow ? planWorkflow(request, workflow, objects) : null;
  }
}

type Plan = PlannedLaunch | PlannedWorkflow;

interface EntryResult {
  result: CheckedEntry;
  errors: FieldErrors;
}

function checkedAgainst(plan: Plan, entry: JobEntry, effective: Prompts): EntryResult {
  const secrets = [...plan.variables.secrets, ...(entry.secrets ?? [])];
  return {
    result: { entry, effective, ignored: ignoredFieldsOf(entry, plan), secrets },
    // Errors must not reveal data of a template that the caller cannot launch.
    errors: plan.template.mayStart ? withoutReferences(plan.errors) : {},
  };
}

function checkedUpdate(template: EntryTemplate | undefined, entry: JobEntry): EntryResult {
  // Errors must not reveal data of a project that the caller cannot update, as with templates.
  const isManual =
    template?.type === 'project' && template.may_start && (template.scm_type ?? '') === '';
  return {
    // An update has no prompts.
    result: {
      entry,
      effective: {},
      ignored: [...(entry.ignored ?? []), ...Object.keys(entry.prompts)],
      secrets: entry.secrets ?? [],
    },
    errors: isManual
      ? { unified_job_template: ['The project has no source to be updated from.'] }
      : {},
  };
}

/**
 * Merges the entry's prompts over the defaults, variables key by key
 * (docs/contract/bulk.md#prompts-of-a-bulk-launch). Returns the defaults themselves for an entry without
 * prompts.
 */
function mergePrompts(defaults: Prompts, prompts: Prompts): Prompts {
  if (Object.keys(prompts).length === 0) return defaults;
  const merged = { ...defaults, ...prompts };
  if (defaults.extra_vars === undefined || prompts.extra_vars === undefined) return merged;
  return { ...merged, extra_vars: mergeExact(defaults.extra_vars, prompts.extra_vars) };
}

function ignoredFieldsOf(entry: JobEntry, { ignored }: Pick<PlannedLaunch, 'ignored'>): string[] {
  const variables = Object.keys(ignored.extra_vars ?? {});
  const sent = entry.prompts.extra_vars ?? {};
  const unprompted = Object.keys(ignored).filter((field) =>
    field === 'extra_vars'
      ? variables.some((name) => Object.hasOwn(sent, name))
      : Object.hasOwn(entry.prompts, field),
  );
  return [...(entry.ignored ?? []), ...unprompted];
}

/** Removes errors for unknown objects: `objectErrors` reports them together with forbidden objects. */
function withoutReferences(errors: FieldErrors): FieldErrors {
  const remaining = Object.entries(errors).filter(([field, texts]) => {
    if (!isOneOf(OBJECT_FIELDS, field)) return true;
    return !(Array.isArray(texts) && texts.every((text) => String(text).startsWith('Invalid pk')));
  });
  return Object.fromEntries(remaining);
}

/** Returns the organization of the workflow job. */
function chooseOrganization(
  { organizationId: requested }: BulkLaunch,
  { member_of: memberOf, organization_exists: exists }: CallerPermissions,
  actor: Actor,
): { id: number | null; faults: string[]; errors: FieldErrors } {
  const none = { faults: [], errors: {} };
  const ids = [...new Set(memberOf)];
  if (requested !== null) {
    if (exists && (actor.isSuperuser || ids.includes(requested))) return { id: requested, ...none };
    const text = `Organization ${requested} not found or you don't have permissions to access it`;
    return { id: null, faults: [text], errors: { organization: [invalidPk(requested)] } };
  }
  if (actor.isSuperuser) return { id: null, ...none };
  if (ids.length === 1) return { id: itemAt(ids, 0), ...none };
  const text =
    ids.length > 1
      ? 'User has permission to multiple Organizations, please set one of them in the request'
      : 'User not part of any organization, please assign an organization to assign to the bulk job';
  return { id: null, faults: [text], errors: {} };
}

import { Injectable } from '@nestjs/common';
import { heldObjects } from '../access/predicates.js';
import { permit, type Actor } from '../common/access.js';
import { invalidPk } from '../common/fields/validate.js';
import type { FieldErrors } from '../common/http/errors.js';
import { resource } from '../common/resource/registry.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { planLaunch, type PlannedLaunch } from '../jobs/launch-check.js';
import { LaunchLoader, type LaunchObjects } from '../jobs/launch-loader.js';
import type { Prompts } from '../templates/launch-config.js';
import type { JobEntry } from './job-entries.js';

/** A bulk launch as it was read. */
export interface BulkLaunch {
  name: string;
  description: string;
  /** What was sent; null: nothing. */
  organizationId: number | null;
  prompts: Prompts;
  entries: readonly JobEntry[];
}

/** What would come of an entry. */
export interface CheckedEntry {
  entry: JobEntry;
  /** Its prompts over those of the whole launch. */
  effective: Prompts;
  /** Names of its fields that will have no effect. */
  ignored: string[];
  secrets: readonly string[];
}

export interface CheckedLaunch {
  organizationId: number | null;
  entries: CheckedEntry[];
  /** Texts about the launch as a whole. */
  faults: string[];
  /** Faults by entry, and of fields. */
  entryErrors: FieldErrors[];
  fieldErrors: FieldErrors;
}

interface Subject {
  id: number;
  type: string;
  scm_type: string | null;
  may_read: boolean;
  may_start: boolean;
}

interface Subjects {
  templates: Subject[];
  /** Organizations the caller is a member of. */
  member_of: number[];
  organization_exists: boolean;
}

const PLURALS: Readonly<Record<string, string>> = {
  job_template: 'Job Templates',
  project: 'Projects',
};

const REFERENCES = new Set(['inventory', 'credentials', 'labels', 'execution_environment']);

/** The rules of a bulk launch (automation 1.4): all faults at once, in a constant number of queries. */
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
    const subjects = await this.subjects(launch, actor);
    const byId = new Map(subjects.templates.map((one) => [one.id, one]));
    const objects = await this.loader.load(
      {
        templates: idsOfType(subjects.templates, 'job_template'),
        inventories: named(all, 'inventory'),
        credentials: named(all, 'credentials'),
        labels: named(all, 'labels'),
      },
      actor,
    );
    const organization = chooseOrganization(launch, subjects, actor);
    const faults = [
      ...repeatedIdentifiers(entries),
      ...templateFaults(entries, byId),
      ...organization.faults,
      ...objectFaults(all, objects),
    ];
    const checked = entries.map((entry) => this.checkEntry(entry, prompts, byId, objects, actor));
    return {
      organizationId: organization.id,
      entries: checked.map(({ result }) => result),
      faults,
      entryErrors: checked.map(({ errors }) => errors),
      fieldErrors: organization.errors,
    };
  }

  private async subjects(launch: BulkLaunch, actor: Actor): Promise<Subjects> {
    const ids = [...new Set(launch.entries.map(({ templateId }) => templateId))];
    const rule = (type: string, action: string) =>
      permit(resource(type).policy, action, 't', actor);
    const row = await this.database.row<Subjects>(sql`
      SELECT ARRAY(${heldObjects('organization', 'member_role', actor)}) AS member_of,
        EXISTS (SELECT 1 FROM organizations WHERE id = ${launch.organizationId}::int)
          AS organization_exists,
        (SELECT coalesce(json_agg(found), '[]') FROM (
          SELECT t.id, t.type, t.scm_type,
            CASE t.type WHEN 'job_template' THEN (${rule('job_template', 'read')})
              WHEN 'project' THEN (${rule('project', 'read')}) ELSE true END AS may_read,
            CASE t.type WHEN 'job_template' THEN (${rule('job_template', 'start')})
              WHEN 'project' THEN (${rule('project', 'update')}) ELSE true END AS may_start
          FROM unified_job_templates t WHERE t.id = ANY(${ids}::int[])) found) AS templates`);
    return row!;
  }

  private checkEntry(
    entry: JobEntry,
    defaults: Prompts,
    byId: ReadonlyMap<number, Subject>,
    objects: LaunchObjects,
    actor: Actor,
  ): { result: CheckedEntry; errors: FieldErrors } {
    const effective = overlaid(defaults, entry.prompts);
    const own = Object.keys(entry.prompts);
    const template = objects.templates.get(entry.templateId);
    const subject = byId.get(entry.templateId);
    if (!template) {
      const isManual = subject?.type === 'project' && (subject.scm_type ?? '') === '';
      return {
        result: { entry, effective, ignored: [...entry.ignored, ...own], secrets: [] },
        errors: isManual
          ? { unified_job_template: ['The project has no source to be updated from.'] }
          : {},
      };
    }
    const { templateId } = entry;
    const plan = planLaunch(
      { templateId, launchType: 'workflow', prompts: effective, createdBy: actor.id },
      template,
      objects,
      { maxForks: this.settings.MAX_FORKS },
    );
    const ignored = ownIgnored(entry, plan);
    // What the caller may not know of the template does not show through its faults.
    const errors = template.mayStart ? withoutReferences(plan.errors) : {};
    return { result: { entry, effective, ignored, secrets: plan.variables.secrets }, errors };
  }
}

/** The entry's own prompts over the defaults; variables key by key (decision 10). */
function overlaid(defaults: Prompts, own: Prompts): Prompts {
  const merged = { ...defaults, ...own };
  if (defaults.extra_vars === undefined || own.extra_vars === undefined) return merged;
  return { ...merged, extra_vars: { ...defaults.extra_vars, ...own.extra_vars } };
}

function ownIgnored(entry: JobEntry, { ignored }: PlannedLaunch): string[] {
  const variables = Object.keys((ignored.extra_vars ?? {}) as object);
  const own = (entry.prompts.extra_vars ?? {}) as object;
  const names = Object.keys(ignored).filter((field) =>
    field === 'extra_vars'
      ? variables.some((name) => Object.hasOwn(own, name))
      : Object.hasOwn(entry.prompts, field),
  );
  return [...entry.ignored, ...names];
}

/** Unknown references are told for the launch as a whole, like forbidden ones. */
function withoutReferences(errors: FieldErrors): FieldErrors {
  const rest = Object.entries(errors).filter(([field, texts]) => {
    if (!REFERENCES.has(field)) return true;
    return !(Array.isArray(texts) && texts.every((text) => String(text).startsWith('Invalid pk')));
  });
  return Object.fromEntries(rest);
}

function repeatedIdentifiers(entries: readonly JobEntry[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { identifier } of entries) {
    if (seen.has(identifier)) repeated.add(identifier);
    seen.add(identifier);
  }
  return [...repeated].map((identifier) => `Identifier ${identifier} not unique`);
}

/** What does not exist and what may not even be read share one text (decision 6). */
function templateFaults(
  entries: readonly JobEntry[],
  byId: ReadonlyMap<number, Subject>,
): string[] {
  const ids = [...new Set(entries.map(({ templateId }) => templateId))];
  const hidden = ids.filter((id) => byId.get(id)?.may_read !== true);
  const found = ids.flatMap((id) => byId.get(id) ?? []).filter((one) => one.may_read);
  const others = found.filter(({ type }) => !(type in PLURALS));
  const kinds = [...new Set(others.map(({ type }) => resource(type).label))];
  return [
    ...(kinds.length > 0 ? [`Template types ${kinds.join(' ')} not allowed in bulk jobs`] : []),
    ...notFound('Unified Job Templates', hidden),
    ...Object.entries(PLURALS).flatMap(([type, plural]) =>
      notFound(
        plural,
        idsOfType(
          found.filter((one) => !one.may_start),
          type,
        ),
      ),
    ),
  ];
}

const idsOfType = (subjects: readonly Subject[], type: string): number[] =>
  subjects.filter((one) => one.type === type).map(({ id }) => id);

/** Use of every object named is asked, whether a template asks for the field or not. */
function objectFaults(all: readonly Prompts[], objects: LaunchObjects): string[] {
  const unusable = (field: 'inventory' | 'credentials', found: (id: number) => boolean): number[] =>
    named(all, field).filter((id) => !found(id));
  return [
    ...notFound(
      'Inventories',
      unusable('inventory', (id) => objects.inventories.get(id)?.mayUse === true),
    ),
    ...notFound(
      'Credentials',
      unusable('credentials', (id) => objects.credentials.get(id)?.mayUse === true),
    ),
    ...notFound(
      'Labels',
      named(all, 'labels').filter((id) => objects.labels.get(id)?.mayRead !== true),
    ),
    ...notFound('Execution Environments', named(all, 'execution_environment')),
  ];
}

function notFound(plural: string, ids: readonly number[]): string[] {
  if (ids.length === 0) return [];
  const list = [...ids].sort((one, other) => one - other).join(', ');
  return [`${plural} {${list}} not found or you don't have permissions to access it`];
}

/** Ids that any of the prompts name in a field, each once. */
function named(all: readonly Prompts[], field: keyof Prompts): number[] {
  return [...new Set(all.flatMap((prompts) => (prompts[field] ?? []) as number | number[]))];
}

/** Organization of the workflow job (seed, Bulk). */
function chooseOrganization(
  { organizationId: given }: BulkLaunch,
  { member_of: memberOf, organization_exists: exists }: Subjects,
  actor: Actor,
): { id: number | null; faults: string[]; errors: FieldErrors } {
  const none = { faults: [], errors: {} };
  const own = [...new Set(memberOf)];
  if (given !== null) {
    if (exists && (actor.isSuperuser || own.includes(given))) return { id: given, ...none };
    const text = `Organization ${given} not found or you don't have permissions to access it`;
    return { id: null, faults: [text], errors: { organization: [invalidPk(given)] } };
  }
  if (actor.isSuperuser) return { id: null, ...none };
  if (own.length === 1) return { id: own[0]!, ...none };
  const text =
    own.length > 1
      ? 'User has permission to multiple Organizations, please set one of them in the request'
      : 'User not part of any organization, please assign an organization to assign to the bulk job';
  return { id: null, faults: [text], errors: {} };
}

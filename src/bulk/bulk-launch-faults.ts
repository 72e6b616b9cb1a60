import { invalidPk } from '../common/fields/fault-texts.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { resource } from '../common/resource/define-resource.js';
import type { LaunchObjects } from '../launching/launch.loader.js';
import type { PromptList, Prompts } from '../prompts/launch-options.js';
import type { JobEntry } from './job-entries.js';

/** Template of an entry. */
export interface EntryTemplate {
  id: number;
  type: string;
  scm_type: string | null;
  may_read: boolean;
  may_start: boolean;
}

const PLURALS: Readonly<Record<string, string>> = {
  job_template: 'Job Templates',
  workflow_job_template: 'Workflow Job Templates',
  project: 'Projects',
  inventory_source: 'Inventory Sources',
};

/** Returns the errors for identifiers that several entries share. */
export function identifierErrors(entries: readonly JobEntry[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { identifier } of entries) {
    if (seen.has(identifier)) repeated.add(identifier);
    seen.add(identifier);
  }
  return [...repeated].map((identifier) => `Identifier ${identifier} not unique`);
}

/** Returns the errors for templates. Missing and unreadable templates give the same error. */
export function jobTemplateErrors(
  entries: readonly JobEntry[],
  byId: ReadonlyMap<number, EntryTemplate>,
): string[] {
  const ids = [...new Set(entries.map(({ templateId }) => templateId))];
  const hidden = ids.filter((id) => byId.get(id)?.may_read !== true);
  const found = ids.flatMap((id) => byId.get(id) ?? []).filter((template) => template.may_read);
  const others = found.filter(({ type }) => !(type in PLURALS));
  const kinds = [...new Set(others.map(({ type }) => resource(type).label))];
  return [
    ...(kinds.length > 0 ? [`Template types ${kinds.join(' ')} not allowed in bulk jobs`] : []),
    ...notFound('Unified Job Templates', hidden),
    ...Object.entries(PLURALS).flatMap(([type, plural]) =>
      notFound(
        plural,
        idsOfType(
          found.filter((template) => !template.may_start),
          type,
        ),
      ),
    ),
  ];
}

export const idsOfType = (templates: readonly EntryTemplate[], type: string): number[] =>
  templates.filter((template) => template.type === type).map(({ id }) => id);

type ObjectField = PromptList | 'inventory' | 'execution_environment';
type Usable = (id: number, objects: LaunchObjects) => boolean;

/** Fields that reference objects, with their display name and the check of permission to use the object. */
const OBJECTS = [
  ['inventory', 'Inventories', (id, { inventories }) => inventories.get(id)?.mayUse === true],
  ['credentials', 'Credentials', (id, { credentials }) => credentials.get(id)?.mayUse === true],
  ['labels', 'Labels', (id, { labels }) => labels.get(id)?.mayRead === true],
  [
    'instance_groups',
    'Instance Groups',
    (id, { instanceGroups }) => instanceGroups.get(id)?.mayUse === true,
  ],
  [
    'execution_environment',
    'Execution Environments',
    (id, { environments }) => environments.get(id)?.mayUse === true,
  ],
] as const satisfies readonly [ObjectField, plural: string, Usable][];

export const OBJECT_FIELDS: ReadonlySet<string> = new Set(OBJECTS.map(([field]) => field));

/** Removes the referenced objects that the caller cannot use, so that they are treated as missing. */
export function onlyUsable(objects: LaunchObjects, all: readonly Prompts[]): LaunchObjects {
  const usable = <T>(
    found: ReadonlyMap<number, T>,
    field: ObjectField,
    mayUse: (object: T) => boolean,
  ): Map<number, T> => {
    const ids = new Set(objectIds(all, field));
    return new Map([...found].filter(([id, object]) => mayUse(object) || !ids.has(id)));
  };
  return {
    ...objects,
    inventories: usable(objects.inventories, 'inventory', ({ mayUse }) => mayUse),
    credentials: usable(objects.credentials, 'credentials', ({ mayUse }) => mayUse),
    labels: usable(objects.labels, 'labels', ({ mayRead }) => mayRead),
    instanceGroups: usable(objects.instanceGroups, 'instance_groups', ({ mayUse }) => mayUse),
    environments: usable(objects.environments, 'execution_environment', ({ mayUse }) => mayUse),
  };
}

/**
 * Returns the errors for objects of jobs that the caller cannot use, even if the template does not prompt
 * for the field.
 */
export const objectErrors = (jobs: readonly Prompts[], objects: LaunchObjects): string[] =>
  OBJECTS.flatMap(([field, plural, isUsable]) =>
    notFound(
      plural,
      objectIds(jobs, field).filter((id) => !isUsable(id, objects)),
    ),
  );

/** Returns the errors for objects of the whole launch that the caller cannot use, by field. */
export function launchObjectErrors(prompts: Prompts, objects: LaunchObjects): FieldErrors {
  const errors: FieldErrors = {};
  for (const [field, , isUsable] of OBJECTS) {
    const unusable = objectIds([prompts], field).filter((id) => !isUsable(id, objects));
    if (unusable.length > 0) errors[field] = unusable.map(invalidPk);
  }
  return errors;
}

function notFound(plural: string, ids: readonly number[]): string[] {
  if (ids.length === 0) return [];
  const list = [...ids].sort((a, b) => a - b).join(', ');
  return [`${plural} {${list}} not found or you don't have permissions to access it`];
}

/** Returns the distinct ids in a field of any of the prompts. */
export function objectIds(all: readonly Prompts[], field: ObjectField): number[] {
  return [...new Set(all.flatMap((prompts) => prompts[field] ?? []))];
}

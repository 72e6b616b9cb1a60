import { invalidPk } from '../common/fields/fault-texts.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { resource } from '../common/resource/define-resource.js';
import type { LaunchObjects } from '../launching/launch.loader.js';
import {
  OBJECT_FIELDS,
  objectIds,
  type ObjectField,
  type Prompts,
} from '../prompts/launch-options.js';
import type { JobEntry } from './job-entries.js';

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
export function templateErrors(
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

/** Display names of the objects in a field. */
const OBJECTS: Readonly<Record<ObjectField, string>> = {
  inventory: 'Inventories',
  credentials: 'Credentials',
  labels: 'Labels',
  instance_groups: 'Instance Groups',
  execution_environment: 'Execution Environments',
};

/** Removes the referenced objects that the caller cannot use, so that they are treated as missing. */
export function removeUnusable(objects: LaunchObjects, all: readonly Prompts[]): void {
  for (const field of OBJECT_FIELDS) {
    for (const id of unusableIds(all, field, objects)) objects[field].delete(id);
  }
}

/** Returns the ids in `field` of the objects that the caller cannot use. */
const unusableIds = (
  all: readonly Prompts[],
  field: ObjectField,
  objects: LaunchObjects,
): number[] => objectIds(all, field).filter((id) => objects[field].get(id)?.mayUse !== true);

/**
 * Returns the errors for objects that jobs name and the caller cannot use, even if the template does not
 * prompt for the field.
 */
export const objectErrors = (jobs: readonly Prompts[], objects: LaunchObjects): string[] =>
  OBJECT_FIELDS.flatMap((field) => notFound(OBJECTS[field], unusableIds(jobs, field, objects)));

/** Returns the errors, by field, for objects that the launch itself names and the caller cannot use. */
export function launchObjectErrors(prompts: Prompts, objects: LaunchObjects): FieldErrors {
  const errors: FieldErrors = {};
  for (const field of OBJECT_FIELDS) {
    const unusable = unusableIds([prompts], field, objects);
    if (unusable.length > 0) errors[field] = unusable.map(invalidPk);
  }
  return errors;
}

function notFound(plural: string, ids: readonly number[]): string[] {
  if (ids.length === 0) return [];
  const list = [...ids].sort((a, b) => a - b).join(', ');
  return [`${plural} {${list}} not found or you don't have permissions to access it`];
}

import { resource } from '../common/resource/registry.js';
import type { LaunchObjects } from '../jobs/launch-loader.js';
import type { Prompts } from '../templates/launch-config.js';
import type { JobEntry } from './job-entries.js';

/** A template that an entry names. */
export interface Subject {
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
};

/** Action that starts each kind which a bulk launch takes. */
export const STARTS: Readonly<Record<string, string>> = {
  job_template: 'start',
  workflow_job_template: 'start',
  project: 'update',
};

/** Entries of one name. */
export function repeatedIdentifiers(entries: readonly JobEntry[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { identifier } of entries) {
    if (seen.has(identifier)) repeated.add(identifier);
    seen.add(identifier);
  }
  return [...repeated].map((identifier) => `Identifier ${identifier} not unique`);
}

/** What does not exist and what may not even be read share one text. */
export function templateFaults(
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

export const idsOfType = (subjects: readonly Subject[], type: string): number[] =>
  subjects.filter((one) => one.type === type).map(({ id }) => id);

/** Use of every object named is asked, whether a template asks for the field or not. */
export function objectFaults(all: readonly Prompts[], objects: LaunchObjects): string[] {
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
export function named(all: readonly Prompts[], field: keyof Prompts): number[] {
  return [...new Set(all.flatMap((prompts) => (prompts[field] ?? []) as number | number[]))];
}

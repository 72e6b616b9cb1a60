import type { Field } from '../../common/fields/field.js';
import { labelOf } from '../../common/fields/label.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';

/** Labels by API name. Only pages use them; JSON and OPTIONS use the API names. */
const LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    dtend: 'Ends',
    dtstart: 'Starts',
    extra_vars: 'Variables',
    is_system_auditor: 'System auditor',
    job_slice_count: 'Slices',
    last_job_run: 'Last run',
    ldap_dn: 'LDAP name',
    named_url: 'URL by name',
    notification_templates_approvals: 'Approval notifications',
    notification_templates_error: 'Failure notifications',
    notification_templates_started: 'Start notifications',
    notification_templates_success: 'Success notifications',
    o_auth2_access_token: 'Access token',
    o_auth2_application: 'Application',
    object1: 'Kind of object',
    object2: 'Kind of second object',
    object_roles: 'Roles',
    rrule: 'Rule',
    scm_clean: 'Discard local changes',
    scm_delete_on_update: 'Delete before syncing',
    scm_inventory_sources: 'Inventory sources',
    scm_refspec: 'Additional refs',
    scm_track_submodules: 'Latest submodules',
    scm_type: 'Source control',
    scm_update_cache_timeout: 'Cache timeout (seconds)',
    scm_update_on_launch: 'Sync before jobs',
    scm_url: 'URL of the repository',
    slice_workflow_jobs: 'Sliced runs',
    uuid: 'UUID',
  }),
);

/** Replacements within a label, such as for abbreviations. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/^ask (.+) on launch$/i, 'Prompt for $1'],
  [/\bscm /i, ''],
  [/\bsurvey spec\b/i, 'survey'],
  [/\bvar(s?)$/i, 'variable$1'],
  [/\burl\b/gi, 'URL'],
  [/\bguid\b/gi, 'GUID'],
  [/\bid\b/gi, 'ID'],
];

/** Returns the label of an API name: "Source control" for `scm_type`. */
export function labelFor(name: string): string {
  const known = LABELS.get(name);
  if (known !== undefined) return known;
  const words = REPLACEMENTS.reduce((text, [from, to]) => text.replace(from, to), labelOf(name));
  return words.replace(/^./, (letter) => letter.toUpperCase());
}

/** Returns the label of a field: the declared label, unless it only repeats the name. */
export const labelForField = ({ name, label }: Pick<Field, 'name' | 'label'>): string =>
  LABELS.has(name) || label === labelOf(name) ? labelFor(name) : label;

/** Returns the help of a field; empty if the help only repeats the label: "Name of this object." */
export function helpFor({ label, help }: Pick<Field, 'label' | 'help'>): string {
  const [, text = ''] = /^(?:optional )?(.+?)(?: of this object)?\.$/i.exec(help) ?? [];
  return text.toLowerCase() === label.toLowerCase() ? '' : help;
}

/** Returns a count such as "1 inventory"; counts "entries" if the list has its own title. */
export function countOf(definition: ResourceDefinition | undefined, count: number): string {
  if (count !== 1) return `${count} ${pluralOf(definition)}`;
  return isPlain(definition) ? `1 ${uncapitalized(labelFor(definition.type))}` : '1 entry';
}

/** Returns the plural for the objects of a list, such as "inventories". */
export const pluralOf = (definition: ResourceDefinition | undefined): string =>
  isPlain(definition) ? uncapitalized(labelFor(definition.path)) : 'entries';

/** Returns true for a list without its own title. */
const isPlain = (definition: ResourceDefinition | undefined): definition is ResourceDefinition =>
  definition !== undefined && definition.pages.list?.title === undefined;

/** Returns a label for use within a sentence; keeps abbreviations unchanged. */
export const uncapitalized = (text: string): string =>
  text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());

/** Returns the label of a member of an object. */
export function labelIn(definition: ResourceDefinition | undefined, name: string): string {
  const field = definition?.field(name);
  return field ? labelForField(field) : labelFor(name);
}

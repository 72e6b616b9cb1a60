import {
  Char,
  declareFields,
  Entries,
  fieldsOf,
  Includes,
  Integer,
  Reference,
  Text,
  Variables,
  type Field,
} from '../common/fields/field.js';
import { entrySchema, filledList } from '../common/fields/field-schema.js';
import { PROMPTS_BODY_FIELDS } from '../prompts/launch-body.js';

/** Options of a field for which `null` means "not sent". */
const OPTIONAL = { nullable: true, column: null, filter: false } as const;

/** Launch fields of a bulk launch. `extra_data` is an alias of `extra_vars`. Former names are not read. */
const LAUNCH_FIELDS: readonly Field[] = [
  ...PROMPTS_BODY_FIELDS.map((field) => ({ ...field, blank: true, formerName: null })),
  ...declareFields({
    extra_data: Variables({ ...OPTIONAL, usesDefault: false, help: 'Alias of extra_vars.' }),
  }),
];

const isText = ({ kind }: Field): boolean => kind === 'string' || kind === 'text';

/** Defaults for all jobs. Text fields can be omitted, but must not be empty. */
const DEFAULTS = LAUNCH_FIELDS.map((field): Field =>
  isText(field) ? { ...field, kind: 'string', blank: false } : field,
);

const namesOf = (fields: readonly Field[]): ReadonlySet<string> =>
  new Set(fields.map(({ name }) => name));

/** Names of defaults that count as not sent when they are empty. */
export const DEFAULTS_IGNORED_IF_EMPTY = namesOf(LAUNCH_FIELDS.filter((field) => !isText(field)));

/** Names of a job's fields that count as not sent when they are empty. */
export const JOB_FIELDS_IGNORED_IF_EMPTY = new Set([...namesOf(LAUNCH_FIELDS), 'identifier']);

@Includes(LAUNCH_FIELDS)
export class BulkJob {
  @Integer({ required: true, min: 1, column: null, filter: false })
  unified_job_template!: number;

  @Text({ ...OPTIONAL, usesDefault: false, max: 512 })
  identifier!: string | null;
}

/** Body of a bulk launch (docs/contract/bulk.md#launching-jobs). */
@Includes(DEFAULTS)
export class BulkLaunchRequest {
  @Char({ required: true, column: null, help: 'Name of the workflow job.' })
  name!: string;

  @Text({ ...OPTIONAL, blank: false, help: 'Description of the workflow job.' })
  description!: string | null;

  @Reference('organization', {
    nullable: true,
    column: null,
    help: 'Organization of the workflow job; required for members of several organizations, except superusers.',
  })
  organization!: number | null;

  @Entries({
    schema: filledList(entrySchema(fieldsOf(BulkJob))),
    help: 'Jobs: `unified_job_template`, and optionally `identifier` and the prompts of a launch.',
  })
  jobs!: unknown[];
}

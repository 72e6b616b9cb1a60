import {
  BOOLEAN,
  freeObject,
  INTEGER,
  list,
  mapOf,
  object,
  orNull,
  partial,
  STRING,
  type JsonSchema,
  type JsonSchemas,
} from '../common/openapi/json-schema.js';
import type { AlternativeAnswer, QueryParameter } from '../common/http/route.js';

/** JSON schemas of the answers that are no resource, for the OpenAPI document. */
export const DETAIL = object({ detail: STRING });

const HOST = object({
  id: orNull(INTEGER),
  name: STRING,
  description: STRING,
  enabled: BOOLEAN,
  instance_id: STRING,
  variables: STRING,
  url: orNull(STRING),
  inventory: INTEGER,
});

const CREATED_MEMBERS = {
  url: { ...STRING, description: 'Path of the inventory.' },
  hosts: list(HOST),
};

const DELETED_MEMBERS = {
  deleted: { ...INTEGER, description: 'Number of hosts deleted.' },
  hosts: { ...mapOf(STRING), description: 'What became of each host, by its id.' },
};

/** Names of fields without effect, by node. */
export const IGNORED_FIELDS = mapOf(list(STRING));

const PREVIEW_MEMBERS = {
  name: STRING,
  organization: orNull(INTEGER),
  jobs: list(
    object({ identifier: STRING, unified_job_template: INTEGER, ignored_fields: list(STRING) }),
  ),
  ignored_fields: IGNORED_FIELDS,
};

const COUNTS = { created: INTEGER, updated: INTEGER, unchanged: INTEGER };
const COUNT_NAMES = Object.keys(COUNTS);

export const CREATED: JsonSchema = {
  ...object({ ...CREATED_MEMBERS, ...COUNTS }, COUNT_NAMES),
  description: 'The numbers are told with `on_conflict: "update"`.',
};

/** One line of a body of lines. */
export const GIVEN_HOST = object(
  {
    name: { ...STRING, maxLength: 512 },
    description: STRING,
    enabled: BOOLEAN,
    instance_id: { ...STRING, maxLength: 1024 },
    variables: { ...STRING, description: 'JSON or YAML; an object too.' },
    groups: list(STRING),
  },
  ['description', 'enabled', 'instance_id', 'variables', 'groups'],
);

/** One line of the answer to a body of lines: progress, and last of all the result or the error. */
export const CREATED_LINES = partial({
  progress: object(
    { phase: { ...STRING, enum: ['reading', 'writing'] }, lines: INTEGER, of: INTEGER },
    ['of'],
  ),
  status: { ...INTEGER, description: 'What the status of an answer in one piece would be.' },
  result: partial({ url: STRING, inventory: INTEGER, ...COUNTS }),
  error: freeObject('The body of an error, as in one piece.'),
});

export const TARGET_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'inventory',
    schema: INTEGER,
    description: 'For a body of lines: the inventory the hosts are added to.',
  },
  {
    name: 'on_conflict',
    schema: { ...STRING, enum: ['error', 'update'] },
    description: 'For a body of lines: what to do about a host that exists already.',
  },
  { name: 'dry_run', schema: BOOLEAN, description: 'Only tells what would happen.' },
];

export const DELETED = object(DELETED_MEMBERS);

const dryRun = (
  members: JsonSchemas,
  optional: readonly string[] = [],
): readonly AlternativeAnswer[] => [
  {
    status: 200,
    description: 'What would come of it, with `?dry_run=1`.',
    response: object({ dry_run: BOOLEAN, ...members }, optional),
  },
];

/** Answers to `?dry_run=1` (decision 32). */
export const CREATE_DRY_RUN = dryRun({ ...CREATED_MEMBERS, ...COUNTS }, COUNT_NAMES);
export const DELETE_DRY_RUN = dryRun(DELETED_MEMBERS);
export const LAUNCH_DRY_RUN = dryRun(PREVIEW_MEMBERS);

export const DRY_RUN_PARAMETER = {
  name: 'dry_run',
  description: 'Checks all and changes nothing.',
  schema: BOOLEAN,
} as const;

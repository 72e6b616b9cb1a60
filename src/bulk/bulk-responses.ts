import {
  anyOfSchemas,
  BOOLEAN,
  described,
  freeObject,
  INTEGER,
  list,
  mapOf,
  object,
  orNull,
  partial,
  STRING,
  type JsonSchema,
} from '../common/fields/json-schema.js';
import { DRY_RUN_PARAMETER } from '../common/rest/parameters.js';
import type { AlternativeResponse, QueryParameter } from '../common/rest/route.js';

/** Response of the routes that describe a bulk operation. */
export const DETAIL = object({ detail: described(STRING, 'Description of the operation.') });

const HOST = object(
  {
    id: orNull(INTEGER),
    name: STRING,
    description: STRING,
    enabled: BOOLEAN,
    instance_id: STRING,
    variables: STRING,
    groups: list(STRING),
    url: orNull(STRING),
    inventory: INTEGER,
  },
  ['groups'],
);

const CREATED_MEMBERS = {
  url: { ...STRING, description: 'Path of the inventory.' },
  hosts: described(list(HOST), 'Hosts, in the order of the request.'),
};

const DELETED_MEMBERS = {
  deleted: { ...INTEGER, description: 'Number of hosts deleted.' },
  hosts: { ...mapOf(STRING), description: 'Result for each host, by its id.' },
};

export const IGNORED_FIELDS = described(
  mapOf(list(STRING)),
  'Names of fields without effect, by node.',
);

const PREVIEW_MEMBERS = {
  name: described(STRING, 'Name of the workflow job.'),
  organization: described(orNull(INTEGER), 'Organization of the workflow job.'),
  jobs: described(
    list(
      object({ identifier: STRING, unified_job_template: INTEGER, ignored_fields: list(STRING) }),
    ),
    'Jobs, in the order of the request.',
  ),
  ignored_fields: IGNORED_FIELDS,
};

const COUNTS = { created: INTEGER, updated: INTEGER, unchanged: INTEGER };
const COUNT_NAMES = Object.keys(COUNTS);

/** Members of the response to an NDJSON body, which counts the hosts instead of listing them. */
const COUNTED_MEMBERS = { url: STRING, inventory: INTEGER, ...COUNTS };
const COUNTED_OPTIONAL = ['updated', 'unchanged'];

export const CREATED: JsonSchema = {
  ...anyOfSchemas(
    object({ ...CREATED_MEMBERS, ...COUNTS }, COUNT_NAMES),
    object(COUNTED_MEMBERS, COUNTED_OPTIONAL),
  ),
  description: 'Contains host counts for an NDJSON body and for `on_conflict: "update"`.',
};

/**
 * Schema of one line of an NDJSON response: progress, and in the last line the result or the error.
 */
export const CREATED_LINES = partial({
  progress: described(
    object({ phase: { ...STRING, enum: ['reading', 'writing'] }, lines: INTEGER, of: INTEGER }, [
      'of',
    ]),
    'Progress, in all lines except the last.',
  ),
  status: { ...INTEGER, description: 'Status code that a regular response would have.' },
  result: described(partial({ dry_run: BOOLEAN, ...COUNTED_MEMBERS }), 'Result, in the last line.'),
  error: freeObject('Body that a regular error response would have.'),
});

export const TARGET_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'inventory',
    schema: INTEGER,
    description: 'For an NDJSON body: inventory the hosts are added to.',
  },
  {
    name: 'on_conflict',
    schema: { ...STRING, enum: ['error', 'update'] },
    description: 'For an NDJSON body: handling of a host that already exists.',
  },
  DRY_RUN_PARAMETER,
];

export const DELETED = object(DELETED_MEMBERS);

const dryRunResponses = (
  response: JsonSchema,
  ...others: readonly JsonSchema[]
): readonly AlternativeResponse[] => [
  {
    status: 200,
    description: 'Effects that the request would have, with `?dry_run=1`.',
    response: others.length === 0 ? response : anyOfSchemas(response, ...others),
  },
];

/** Member that only responses to `?dry_run=1` have (docs/contract/conventions.md#dry-run). */
const DRY_RUN = { dry_run: described(BOOLEAN, 'True: nothing was changed.') };
export const CREATE_DRY_RUN = dryRunResponses(
  object({ ...DRY_RUN, ...CREATED_MEMBERS, ...COUNTS }, COUNT_NAMES),
  object({ ...DRY_RUN, ...COUNTED_MEMBERS }, COUNTED_OPTIONAL),
);
export const DELETE_DRY_RUN = dryRunResponses(object({ ...DRY_RUN, ...DELETED_MEMBERS }));
export const LAUNCH_DRY_RUN = dryRunResponses(object({ ...DRY_RUN, ...PREVIEW_MEMBERS }));

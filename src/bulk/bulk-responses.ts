import * as json from '../common/fields/json-schema.js';
import type { JsonSchema } from '../common/fields/json-schema.js';
import { DRY_RUN_PARAMETER } from '../common/rest/parameters.js';
import type { AlternativeResponse, QueryParameter } from '../common/rest/route.js';

/** Response of the routes that describe a bulk operation. */
export const DETAIL = json.object({
  detail: json.described(json.STRING, 'Description of the operation.'),
});

const HOST = json.object(
  {
    id: json.orNull(json.INTEGER),
    name: json.STRING,
    description: json.STRING,
    enabled: json.BOOLEAN,
    instance_id: json.STRING,
    variables: json.STRING,
    groups: json.list(json.STRING),
    url: json.orNull(json.STRING),
    inventory: json.INTEGER,
  },
  ['groups'],
);

const CREATED_MEMBERS = {
  url: { ...json.STRING, description: 'Path of the inventory.' },
  hosts: json.described(json.list(HOST), 'Hosts, in the order of the request.'),
};

const DELETED_MEMBERS = {
  deleted: { ...json.INTEGER, description: 'Number of hosts deleted.' },
  hosts: { ...json.mapOf(json.STRING), description: 'Result for each host, by its id.' },
};

export const IGNORED_FIELDS = json.described(
  json.mapOf(json.list(json.STRING)),
  'Names of fields without effect, by node.',
);

const PREVIEW_MEMBERS = {
  name: json.described(json.STRING, 'Name of the workflow job.'),
  organization: json.described(json.orNull(json.INTEGER), 'Organization of the workflow job.'),
  jobs: json.described(
    json.list(
      json.object({
        identifier: json.STRING,
        unified_job_template: json.INTEGER,
        ignored_fields: json.list(json.STRING),
      }),
    ),
    'Jobs, in the order of the request.',
  ),
  ignored_fields: IGNORED_FIELDS,
};

const COUNTS = { created: json.INTEGER, updated: json.INTEGER, unchanged: json.INTEGER };
const COUNT_NAMES = Object.keys(COUNTS);

/** Members of the response to an NDJSON body, which counts the hosts instead of listing them. */
const COUNTED_MEMBERS = { url: json.STRING, inventory: json.INTEGER, ...COUNTS };
const COUNTED_OPTIONAL = ['updated', 'unchanged'];

export const CREATED: JsonSchema = {
  ...json.anyOfSchemas(
    json.object({ ...CREATED_MEMBERS, ...COUNTS }, COUNT_NAMES),
    json.object(COUNTED_MEMBERS, COUNTED_OPTIONAL),
  ),
  description: 'Contains host counts for an NDJSON body and for `on_conflict: "update"`.',
};

/**
 * Schema of one line of an NDJSON response: progress, and in the last line the result or the error.
 */
export const CREATED_LINES = json.partial({
  progress: json.described(
    json.object(
      {
        phase: { ...json.STRING, enum: ['reading', 'writing'] },
        lines: json.INTEGER,
        of: json.INTEGER,
      },
      ['of'],
    ),
    'Progress, in all lines except the last.',
  ),
  status: { ...json.INTEGER, description: 'Status code that a regular response would have.' },
  result: json.described(
    json.partial({ dry_run: json.BOOLEAN, ...COUNTED_MEMBERS }),
    'Result, in the last line.',
  ),
  error: json.freeObject('Body that a regular error response would have.'),
});

export const TARGET_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'inventory',
    schema: json.INTEGER,
    description: 'For an NDJSON body: inventory the hosts are added to.',
  },
  {
    name: 'on_conflict',
    schema: { ...json.STRING, enum: ['error', 'update'] },
    description: 'For an NDJSON body: handling of a host that already exists.',
  },
  DRY_RUN_PARAMETER,
];

export const DELETED = json.object(DELETED_MEMBERS);

const dryRunResponses = (
  response: JsonSchema,
  ...others: readonly JsonSchema[]
): readonly AlternativeResponse[] => [
  {
    status: 200,
    description: 'Effects that the request would have, with `?dry_run=1`.',
    response: others.length === 0 ? response : json.anyOfSchemas(response, ...others),
  },
];

/** Member that only responses to `?dry_run=1` have (docs/contract/conventions.md#dry-run). */
const DRY_RUN = { dry_run: json.described(json.BOOLEAN, 'True: nothing was changed.') };
export const CREATE_DRY_RUN = dryRunResponses(
  json.object({ ...DRY_RUN, ...CREATED_MEMBERS, ...COUNTS }, COUNT_NAMES),
  json.object({ ...DRY_RUN, ...COUNTED_MEMBERS }, COUNTED_OPTIONAL),
);
export const DELETE_DRY_RUN = dryRunResponses(json.object({ ...DRY_RUN, ...DELETED_MEMBERS }));
export const LAUNCH_DRY_RUN = dryRunResponses(json.object({ ...DRY_RUN, ...PREVIEW_MEMBERS }));

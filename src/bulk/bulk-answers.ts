import {
  BOOLEAN,
  INTEGER,
  list,
  mapOf,
  object,
  orNull,
  STRING,
  type JsonSchemas,
} from '../common/openapi/json-schema.js';
import type { AlternativeAnswer } from '../common/http/route.js';

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

export const CREATED = object(CREATED_MEMBERS);
export const DELETED = object(DELETED_MEMBERS);

const dryRun = (members: JsonSchemas): readonly AlternativeAnswer[] => [
  {
    status: 200,
    description: 'What would come of it, with `?dry_run=1`.',
    response: object({ dry_run: BOOLEAN, ...members }),
  },
];

/** Answers to `?dry_run=1` (decision 32). */
export const CREATE_DRY_RUN = dryRun(CREATED_MEMBERS);
export const DELETE_DRY_RUN = dryRun(DELETED_MEMBERS);
export const LAUNCH_DRY_RUN = dryRun(PREVIEW_MEMBERS);

export const DRY_RUN_PARAMETER = {
  name: 'dry_run',
  description: 'Checks all and changes nothing.',
  schema: BOOLEAN,
} as const;

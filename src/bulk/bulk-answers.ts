/** JSON schemas of the answers that are no resource, for the OpenAPI document. */
export const DETAIL = { type: 'object', properties: { detail: { type: 'string' } } };

const HOST = {
  type: 'object',
  properties: {
    id: { type: 'integer', nullable: true },
    name: { type: 'string' },
    description: { type: 'string' },
    enabled: { type: 'boolean' },
    instance_id: { type: 'string' },
    variables: { type: 'string' },
    url: { type: 'string', nullable: true },
    inventory: { type: 'integer' },
  },
};

const COUNT = { type: 'integer' };
const COUNTS = { created: COUNT, updated: COUNT, unchanged: COUNT };

export const CREATED = {
  type: 'object',
  description: 'The numbers are told with `on_conflict: "update"`.',
  properties: {
    url: { type: 'string', description: 'Path of the inventory.' },
    ...COUNTS,
    hosts: { type: 'array', items: HOST },
  },
};

/** One line of a body of lines. */
export const GIVEN_HOST = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 512 },
    description: { type: 'string' },
    enabled: { type: 'boolean' },
    instance_id: { type: 'string', maxLength: 1024 },
    variables: { type: 'string', description: 'JSON or YAML; an object too.' },
    groups: { type: 'array', items: { type: 'string' } },
  },
  required: ['name'],
};

/** One line of the answer to a body of lines: progress, and last of all the result or the error. */
export const CREATED_LINES = {
  type: 'object',
  properties: {
    progress: {
      type: 'object',
      properties: {
        phase: { type: 'string', enum: ['reading', 'writing'] },
        lines: COUNT,
        of: COUNT,
      },
    },
    status: { type: 'integer', description: 'What the status of an answer in one piece would be.' },
    result: {
      type: 'object',
      properties: { url: { type: 'string' }, inventory: COUNT, ...COUNTS },
    },
    error: { type: 'object', additionalProperties: true },
  },
};

export const TARGET_PARAMETERS = [
  {
    name: 'inventory',
    schema: { type: 'integer' },
    description: 'For a body of lines: the inventory the hosts are added to.',
  },
  {
    name: 'on_conflict',
    schema: { type: 'string', enum: ['error', 'update'] },
    description: 'For a body of lines: what to do about a host that exists already.',
  },
  { name: 'dry_run', schema: { type: 'boolean' }, description: 'Only tells what would happen.' },
];

export const DELETED = {
  type: 'object',
  properties: {
    deleted: { type: 'integer', description: 'Number of hosts deleted.' },
    hosts: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

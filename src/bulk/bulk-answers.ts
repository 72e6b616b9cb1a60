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

export const CREATED = {
  type: 'object',
  properties: {
    url: { type: 'string', description: 'Path of the inventory.' },
    hosts: { type: 'array', items: HOST },
  },
};

export const DELETED = {
  type: 'object',
  properties: {
    deleted: { type: 'integer', description: 'Number of hosts deleted.' },
    hosts: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

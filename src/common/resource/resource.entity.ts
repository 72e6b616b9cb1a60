import { WIDE } from '../fields/column-types.js';
import { Char, DateTime, Integer, Reference, Text } from '../fields/field.js';

const ID = { label: 'ID', readOnly: true, help: 'Database id of this object.' } as const;
export const NOW = { readOnly: true, nullable: false, columnDefault: 'now()' } as const;
const CREATED = { ...NOW, help: 'Time of creation.' } as const;
const MODIFIED = { ...NOW, help: 'Time of the last change.' } as const;

/** Fields of most resources. */
export abstract class ResourceEntity {
  @Integer(ID)
  id!: number;

  @DateTime(CREATED)
  created!: string;

  @DateTime(MODIFIED)
  modified!: string;
}

/** Fields of a resource with `bigint` ids. TypeORM cannot override the column of a base class. */
export abstract class WideResourceEntity {
  @Integer({ ...ID, ...WIDE })
  id!: number;

  @DateTime(CREATED)
  created!: string;

  @DateTime(MODIFIED)
  modified!: string;
}

/** Options of a reference that representations only summarize. */
export const HIDDEN_REFERENCE = {
  readOnly: true,
  nullable: true,
  hidden: true,
  index: 'where set',
} as const;

/** Base of resources that store their creator and last editor. */
export abstract class OwnedEntity extends ResourceEntity {
  @Reference('user', HIDDEN_REFERENCE)
  created_by!: Reference | null;

  @Reference('user', HIDDEN_REFERENCE)
  modified_by!: Reference | null;
}

export abstract class NamedEntity extends OwnedEntity {
  @Char({ required: true, search: true, help: 'Name of this object.' })
  name!: string;

  @Text({ search: true, help: 'Optional description.' })
  description!: string;
}

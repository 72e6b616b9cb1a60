import { Char, DateTime, Integer, Reference, Text } from '../fields/field.js';
import { resource } from './registry.js';

/** Fields of every resource. */
export abstract class ResourceSchema {
  @Integer({ label: 'ID', readOnly: true, help: 'Database id of this object.' })
  id!: number;

  @DateTime({ readOnly: true, nullable: false, columnDefault: 'now()', help: 'When it was made.' })
  created!: string;

  @DateTime({
    readOnly: true,
    nullable: false,
    columnDefault: 'now()',
    help: 'When it was last changed.',
  })
  modified!: string;
}

const HIDDEN_USER = {
  readOnly: true,
  nullable: true,
  hidden: true,
  index: 'where set',
} as const;

/** Base of resources that store their creator and last editor. */
export abstract class OwnedSchema extends ResourceSchema {
  @Reference(() => resource('user'), HIDDEN_USER)
  created_by!: Reference | null;

  @Reference(() => resource('user'), HIDDEN_USER)
  modified_by!: Reference | null;
}

export abstract class NamedSchema extends OwnedSchema {
  @Char({ required: true, search: true, help: 'Name of this object.' })
  name!: string;

  @Text({ search: true, help: 'Optional description.' })
  description!: string;
}

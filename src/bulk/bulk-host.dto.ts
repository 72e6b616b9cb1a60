import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { FAULTS, tooLarge, tooSmall } from '../common/fields/fault-texts.js';
import { Choices, Entries, Reference, type FieldOptions } from '../common/fields/field.js';
import { filledList } from '../common/fields/field-schema.js';
import * as json from '../common/fields/json-schema.js';
import { COLUMN_TYPES, rangeOf } from '../common/fields/column-types.js';
import { withMessage } from '../common/fields/validators.js';
import type { FieldErrors } from '../common/errors/errors.js';
import { BULK_HOST_ENTRY } from './bulk-host-entry.dto.js';
import type { OnConflict } from '../inventories/host-writes.repository.js';

const ID_LIST = filledList({ ...json.INTEGER, minimum: 1 });

/** Target of created hosts: in the body, or in the URL for an NDJSON body. */
export class HostTargetRequest {
  @Reference('inventory', {
    required: true,
    column: null,
    help: 'Inventory the hosts are added to.',
  })
  inventory!: Reference;

  @Choices(
    [
      ['error', 'Refuse the request'],
      ['update', 'Change the fields that were sent'],
    ],
    {
      column: null,
      filter: false,
      default: 'error',
      help: 'Handling of a host that already exists.',
    },
  )
  on_conflict!: OnConflict;
}

/** Body of a bulk host creation. */
export class HostCreateRequest extends HostTargetRequest {
  @Entries({
    schema: filledList(BULK_HOST_ENTRY),
    help: 'Hosts: `name`, and optionally `description`, `enabled`, `instance_id`, `variables` and `groups`, names of groups of the inventory. Missing groups are created.',
  })
  hosts!: unknown[];
}

/** Body of a bulk host deletion. */
export class HostDeleteRequest {
  @Ids({ help: 'Ids of the hosts to delete, from one or more inventories.' })
  hosts!: number[];
}

/** Declares a list of ids. Errors are reported by position. */
function Ids(options: FieldOptions): PropertyDecorator {
  return applyDecorators(
    // class-transformer applies the last declared transformation first.
    Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.map(toId) : value)),
    Entries({ schema: ID_LIST, ...options }),
    ValidateBy(
      { name: 'areIds', validator: { validate: (ids: unknown[]) => ids.every(isId) } },
      withMessage(idErrors),
    ),
  );
}

const toId = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;

const isId = (id: unknown): boolean => idError(id) === null;

function idError(id: unknown): string | null {
  if (typeof id !== 'number' || !Number.isInteger(id)) return FAULTS.integer;
  if (id < 1) return tooSmall(1);
  const { max } = rangeOf(COLUMN_TYPES.reference);
  return id > max ? tooLarge(max) : null;
}

function idErrors(ids: readonly unknown[]): FieldErrors {
  const errors: FieldErrors = {};
  ids.forEach((id, index) => {
    const error = idError(id);
    if (error !== null) errors[index] = [error];
  });
  return errors;
}

import { applyDecorators } from '@nestjs/common';
import { Column, ForeignKey, Index } from 'typeorm';
import { declaredColumn, entityOf, GeneratedId, onDelete } from '../../database/table.js';
import { BrokenInvariant, existing } from '../invariants.js';
import { prototypeOf } from '../records.js';
import type { Field } from './field.js';

/**
 * Declares the column of a field to TypeORM. A reference `team` is the column `team_id`, with its foreign
 * key and index.
 *
 * A subclass of an entity adds its columns to the table of that entity. The columns are nullable there,
 * because the rows of other subclasses have no value.
 */
export function Stored(field: Field): PropertyDecorator {
  return ({ constructor }) => {
    const { column, columnType } = field;
    if (column === null) return;
    const declared = declaredColumn(constructor, column);
    if (declared && declared.options.type !== columnType) {
      throw new BrokenInvariant(`the column ${column} of ${constructor.name} has one type`);
    }
    if (declared) return;
    const entity = entityOf(constructor) ?? constructor;
    columnDecorator(field, entity !== constructor)(prototypeOf(entity), column);
  };
}

function columnDecorator(field: Field, isShared: boolean): PropertyDecorator {
  if (field.name === 'id') return GeneratedId(field.columnType === 'bigint' ? 'bigint' : 'integer');
  return applyDecorators(
    Column({
      primary: field.key ?? false,
      type: field.columnType,
      nullable: field.nullable || isShared,
      default: columnDefaultOf(field),
    }),
    ...foreignKeyOf(field),
  );
}

/** Returns the default for TypeORM, which takes SQL as a function. */
function columnDefaultOf({ columnDefault, nullable, default: value }: Field): unknown {
  if (typeof columnDefault === 'string') return () => columnDefault;
  return columnDefault ?? (nullable ? null : value);
}

function foreignKeyOf({ target, column, index, onDelete: effect }: Field): PropertyDecorator[] {
  if (!target) return [];
  const entity = () => existing(entityOf(target().entity), 'the target of a reference has a table');
  const where = index === 'where set' ? { where: `(${column} IS NOT NULL)` } : {};
  const foreignKey = effect === 'KEEP' ? [] : [ForeignKey(entity, onDelete(effect))];
  return [...foreignKey, ...(index ? [Index(where)] : [])];
}

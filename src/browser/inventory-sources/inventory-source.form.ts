import { Injectable } from '@nestjs/common';
import type { Field } from '../../common/fields/field.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';
import { CONSTRUCTED_OPTIONS, OF_PROJECTS } from '../../inventory-sources/source-checks.js';
import {
  CONSTRUCTED,
  SCM,
  sourceKind,
  type SourceKind,
} from '../../inventory-sources/source-kinds.js';

/** Form that asks for the kind of source, then for the options of the kind. */
@Injectable()
@PageFormOf('inventory_source')
export class InventorySourceForm implements PageForm {
  readonly choice = 'source';
  /** Created together with the inventory, never by this form. */
  readonly madeElsewhere = [CONSTRUCTED.word];

  fields(fields: readonly Field[], chosen: unknown): readonly Field[] {
    const kind = sourceKind(chosen);
    if (!kind) return fields;
    return fields.filter(({ name }) => name !== this.choice && isOf(kind, name));
  }
}

function isOf(kind: SourceKind, name: string): boolean {
  const has = (names: readonly string[]): boolean => names.includes(name);
  if (kind === CONSTRUCTED) return has(CONSTRUCTED_OPTIONS);
  return kind === SCM || !has(OF_PROJECTS);
}

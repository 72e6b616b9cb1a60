import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { DomainError } from '../../common/errors/errors.js';
import type { Field } from '../../common/fields/field.js';
import { listOf } from '../../common/records.js';
import { resource } from '../../common/resource/define-resource.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';
import { CONSTRUCTED_OPTIONS, PROJECT_FIELDS } from '../../inventory-sources/source-checks.js';
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
  readonly omittedChoices = [CONSTRUCTED.value];

  readonly dependencies = { source_path: 'source_project' };

  constructor(private readonly resources: ResourceService) {}

  async fields(
    fields: readonly Field[],
    { chosen, known: { source_project: project }, actor }: FormState,
  ): Promise<readonly Field[]> {
    const kind = sourceKind(chosen);
    if (!kind) return fields;
    const files = await this.filesOf([project].flat().at(-1), actor);
    return fields
      .filter(({ name }) => name !== this.choice && appliesTo(kind, name))
      .map((field) =>
        field.name === 'source_path' && files.length > 0
          ? { ...field, suggestions: () => files }
          : field,
      );
  }

  /** Returns the files that look like inventories, as the last sync of the project found them. */
  private async filesOf(project: unknown, actor: Actor): Promise<readonly string[]> {
    if (!/^\d{1,9}$/.test(String(project))) return [];
    try {
      const row = await this.resources.load(resource('project'), Number(project), actor);
      return listOf(row.inventory_files).map(String);
    } catch (error) {
      if (error instanceof DomainError) return [];
      throw error;
    }
  }
}

function appliesTo(kind: SourceKind, name: string): boolean {
  const has = (names: readonly string[]): boolean => names.includes(name);
  if (kind === CONSTRUCTED) return has(CONSTRUCTED_OPTIONS);
  return kind === SCM || !has(PROJECT_FIELDS);
}

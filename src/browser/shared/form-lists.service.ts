import { Injectable } from '@nestjs/common';
import { lastValueFrom, type Observable } from 'rxjs';
import { partsOf } from '../../common/fields/text.js';
import type { Actor } from '../../common/access.js';
import { BadRequest, Invalid } from '../../common/errors/errors.js';
import { existing } from '../../common/invariants.js';
import { isRecord } from '../../common/records.js';
import { relationCondition } from '../../common/resource/relation-condition.js';
import { definitionOf } from '../../common/fields/field.js';
import { CommonServices } from '../../common/rest/common-services.service.js';
import { RouteTable } from '../../common/rest/route-table.service.js';
import { sql } from '../../database/sql.js';
import type { Submission } from './browser-form.js';
import { messagesOf } from './form-errors.js';
import type { FormList } from './page-forms.service.js';
import type { Item } from './value-views.js';

type Lists = Readonly<Record<string, FormList>>;
type Ids = Record<string, string[]>;

/** Lists below an object, such as its labels, that a form saves together with the object. */
@Injectable()
export class FormLists {
  constructor(
    private readonly table: RouteTable,
    private readonly services: CommonServices,
  ) {}

  /** Returns up to 200 readable ids of each list, by field; omits lists whose objects the form creates. */
  async idsOf({ id, type }: Item, lists: Lists, actor: Actor): Promise<Ids> {
    const ids: Ids = {};
    for (const [field, { list, creates }] of Object.entries(lists)) {
      const relation = definitionOf(String(type)).relations[list];
      if (creates || !relation) continue;
      const page = { page_size: '200', count_disabled: '1' };
      const { results } = await this.services.resources.list(relation.target(), page, actor, {
        scope: relationCondition(relation, sql`${Number(id)}`, 't'),
      });
      ids[field] = results.map((row) => String(row.id));
    }
    return ids;
  }

  /** Handles a form and changes the lists of its object in one transaction. */
  saveWith(
    handle: () => Observable<unknown>,
    { values, shown = [] }: Submission,
    lists: Lists,
    actor: Actor,
  ): Promise<unknown> {
    return this.services.database.transaction(async () => {
      const saved: unknown = await lastValueFrom(handle());
      if (!isRecord(saved)) return saved;
      for (const [field, { list, creates }] of Object.entries(lists)) {
        const sent = [values[field] ?? []].flat().map(String).filter(Boolean);
        if (creates) {
          for (const name of sent.flatMap((text) => partsOf(text, ','))) {
            await this.post(
              saved,
              { field, list },
              { name, organization: saved.organization },
              actor,
            );
          }
          continue;
        }
        const shownIds = shown.flatMap((entry) =>
          entry.startsWith(`${field}.`) ? [entry.split('.')[1]] : [],
        );
        // Attaching an attached object and detaching a detached object cause no error.
        for (const id of shownIds.filter((old) => old !== undefined && !sent.includes(old))) {
          await this.post(saved, { field, list }, { id, disassociate: true }, actor);
        }
        for (const id of sent.filter((sentId) => !shownIds.includes(sentId))) {
          await this.post(saved, { field, list }, { id }, actor);
        }
      }
      return saved;
    });
  }

  /** Sends a body to a list below the object. @throws Invalid naming the field of the form */
  private async post(
    { url, id }: Item,
    { field, list }: { field: string; list: string },
    body: Record<string, unknown>,
    actor: Actor,
  ): Promise<void> {
    const info = this.table.match(`${String(url)}${list}/`)?.routes.get('POST')?.info;
    const definition = existing(info?.parent, 'a list of a form is below an object');
    const { services } = this;
    const action = info?.needs ?? 'change';
    const parent = await services.resources.load(definition, Number(id), actor, { action });
    try {
      await info?.addTo?.({ services, actor, parent, rules: undefined }, body);
    } catch (error) {
      if (error instanceof BadRequest) throw Invalid.field(field, error.detail);
      if (error instanceof Invalid) throw new Invalid({ [field]: messagesOf(error.errors) });
      throw error;
    }
  }
}

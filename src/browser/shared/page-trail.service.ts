import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { and, sql } from '../../database/sql.js';
import { permit, type Actor } from '../../common/access.js';
import { labelOf } from '../../common/fields/label.js';
import { RouteTable } from '../../common/rest/route-table.service.js';
import { columnOf } from '../../common/fields/field.js';
import {
  fieldOf,
  resource,
  type ResourceDefinition,
  type Row,
} from '../../common/resource/define-resource.js';
import { selectRows } from '../../common/resource/select-rows.js';
import { orderOf } from './tabs.js';
import { objectTitleOf } from './value-views.js';

export interface Breadcrumb {
  name: string;
  /** Path of the page; empty without a page. */
  url: string;
}

/** Reference of an object to its parent, which is its organization or its container. */
interface ParentReference {
  field: string;
  target: () => ResourceDefinition;
}

/** Finds the breadcrumbs of an object from its parents: "Shop / Teams / Operations". */
@Injectable()
export class PageTrail {
  constructor(
    private readonly table: RouteTable,
    private readonly database: Database,
  ) {}

  /**
   * Returns the breadcrumbs before an object, outermost first, for the parents that the caller may
   * read. Runs one statement for each parent.
   */
  async before(definition: ResourceDefinition, row: Row, actor: Actor): Promise<Breadcrumb[]> {
    const list = this.listUrl(`/api/v2/${definition.path}/`);
    const name = labelOf(definition.path);
    const reference = parentReferenceOf(definition);
    const id = reference && row[columnOf(fieldOf(definition, reference.field))];
    if (!reference || typeof id !== 'number') return [{ name, url: list }];
    const target = reference.target();
    const isReadable = permit(target.policy, 'read', 't', actor);
    const parent = await this.database.row<Row>(
      selectRows(target, 't', sql`t.*`, and(sql`t.id = ${id}`, isReadable)),
    );
    if (!parent) return [{ name, url: list }];
    // The URL of a template depends on its type.
    const kind = target.variants ? resource(String(parent.type)) : target;
    const url = kind.url(id);
    const nestedList = `${url}${definition.path}/`;
    return [
      ...(await this.before(kind, parent, actor)),
      { name: objectTitleOf(parent), url },
      {
        name,
        url:
          this.listUrl(nestedList) ||
          (list && `${list}${list.includes('?') ? '&' : '?'}${reference.field}=${id}`),
      },
    ];
  }

  /** Returns the URL of a list, with the order for links; empty if the list has no page. */
  private listUrl(path: string): string {
    const route = this.table.match(path)?.routes.get('GET');
    return route ? path + orderOf(route) : '';
  }
}

/**
 * Returns the parent: `auditParent`, `within` of the page layout, or the organization of the natural
 * key.
 */
function parentReferenceOf(definition: ResourceDefinition): ParentReference | null {
  const { auditParent, naturalKey, pages } = definition;
  if (auditParent) return { field: auditParent.field, target: () => resource(auditParent.type) };
  const field = pages.within ?? (naturalKey.includes('organization') ? 'organization' : undefined);
  const target = field === undefined ? undefined : fieldOf(definition, field).target;
  return field !== undefined && target ? { field, target } : null;
}

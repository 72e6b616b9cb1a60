import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { exactJson } from '../../common/exact-json.js';
import type { ListOptions } from '../../common/list/list.service.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { OptionsService } from '../../common/rest/options.service.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { NOTHING_OPEN, type OpenParts } from '../../common/rest/route.js';
import { RouteTable } from '../../common/rest/route-table.service.js';
import { parseRecord } from '../../common/records.js';
import type { Item } from './value-views.js';

/** Reads objects for panels with the permissions of the caller. */
@Injectable()
export class PanelSource {
  constructor(
    private readonly table: RouteTable,
    private readonly options: OptionsService,
    private readonly resources: ResourceService,
  ) {}

  /** Returns the parts of a route that the caller may use, as far as they are known in advance. */
  async openParts(method: string, path: string, actor: Actor): Promise<OpenParts> {
    const route = this.table.match(path)?.routes.get(method);
    return route ? this.options.openParts(route, path, actor) : NOTHING_OPEN;
  }

  /**
   * Returns an object after JSON serialization: dates are text.
   *
   * @throws NotFound or Forbidden, like the URL of the object
   */
  async object(definition: ResourceDefinition, id: number, actor: Actor): Promise<Item> {
    const row = await this.resources.load(definition, id, actor);
    return asItem(await this.resources.show(definition, row, actor));
  }

  /** Returns the objects of a list after JSON serialization: dates are text. */
  async list(
    definition: ResourceDefinition,
    query: Record<string, string>,
    actor: Actor,
    options: ListOptions = {},
  ): Promise<Item[]> {
    const page = { count_disabled: '1', ...query };
    const { results } = await this.resources.list(definition, page, actor, options);
    return results.map(asItem);
  }
}

const asItem = (shown: object): Item => parseRecord(exactJson(shown));

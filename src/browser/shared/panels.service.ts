import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Actor } from '../../common/access.js';
import type { QueryParameters } from '../../common/list/query.js';
import { BrokenInvariant } from '../../common/invariants.js';
import { exactJson } from '../../common/exact-json.js';
import type { ListOptions } from '../../common/list/list.service.js';
import { append, memberOf, parseRecord } from '../../common/records.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { OptionsService } from '../../common/rest/options.service.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { NOTHING_OPEN, type OpenParts } from '../../common/rest/route.js';
import { RouteTable } from '../../common/rest/route-table.service.js';
import type { Html } from './html.js';
import type { FormRefusal } from './refusal.js';
import type { Item } from './value-views.js';

/** Parameters for rendering a panel. */
export interface PanelContext<Shown extends object = object> {
  /** Representation of the object or response on the page. */
  object: Shown & Readonly<Record<string, unknown>>;
  actor: Actor;
  /** CSRF token for forms of the panel. */
  csrf: string;
  /** Query parameters of the page. */
  query: QueryParameters;
  /** Path of the page, as the return path of forms. */
  path: string;
  /** Origin such as `https://host`, as the browser sees it. */
  origin: string;
  /** Initial values of forms from the query string, by field. */
  initialValues: Readonly<Record<string, string>>;
  /** Errors of a form in a card of the page. */
  refusal: FormRefusal | null;
  /** Values of the form whose response the page shows. */
  sent: Readonly<Record<string, unknown>>;
}

/** A section of a page: above or below the details of an object, above a list, or above a response. */
export interface Panel<Shown extends object = object> {
  /** True if the panel is placed before the details of the object and before other panels. */
  readonly isFirst?: boolean;
  /** True if the panel renders the rows of its list instead of the default table. */
  readonly showsRows?: boolean;
  /**
   * Last URL segments of the object's actions that have a form in the panel; the page shows no other
   * form for these actions.
   */
  readonly covers?: readonly string[];
  render(context: PanelContext<Shown>): Promise<Html | null> | Html | null;
}

const isPanel = (value: unknown): value is Panel => typeof memberOf(value, 'render') === 'function';

const PanelOf = DiscoveryService.createDecorator<string[]>();

/**
 * Declares a provider as a panel. A key is a resource type for detail pages, an operation id such as
 * `teams_list` for its page, or a type with a suffix: `team_rows` replaces the rows of all lists of the
 * type, `team_delete` adds to the page that confirms a deletion.
 */
export const PagePanel = (...keys: string[]): ClassDecorator => PanelOf(keys);

/** Registry of the panels of all features. */
@Injectable()
export class Panels {
  private byType: Map<string, Panel[]> | undefined;

  constructor(private readonly discovery: DiscoveryService) {}

  /** Returns true if a panel renders the rows of the list of an operation. */
  showRows(operationId: string | undefined): boolean {
    return this.panelsOf(operationId ?? '').some(({ showsRows = false }) => showsRows);
  }

  /** @param part `first` for only the panels before the details of an object, `other` for the others */
  async render(type: string, context: PanelContext, part?: 'first' | 'other'): Promise<Html[]> {
    const sections: Html[] = [];
    for (const panel of this.panelsOf(type)) {
      if (part !== undefined && (panel.isFirst === true) !== (part === 'first')) continue;
      const section = await panel.render(context);
      if (section) sections.push(section);
    }
    return sections;
  }

  /** Returns true if a key has panels. */
  has(type: string): boolean {
    return this.panelsOf(type).length > 0;
  }

  /** Returns true if a panel has a form for an action. */
  covers(type: string, action: string): boolean {
    return this.panelsOf(type).some(({ covers = [] }) => covers.includes(action));
  }

  private panelsOf(type: string): readonly Panel[] {
    this.byType ??= this.find();
    return this.byType.get(type) ?? [];
  }

  private find(): Map<string, Panel[]> {
    const found = new Map<string, Panel[]>();
    for (const provider of this.discovery.getProviders({ metadataKey: PanelOf.KEY })) {
      const panel: unknown = provider.instance;
      if (!isPanel(panel)) throw new BrokenInvariant(`${String(provider.name)} is a panel`);
      const types = this.discovery.getMetadataByDecorator(PanelOf, provider) ?? [];
      for (const type of types) append(found, type, panel);
    }
    const rankOf = ({ isFirst = false }: Panel): number => (isFirst ? 0 : 1);
    for (const panels of found.values()) panels.sort((a, b) => rankOf(a) - rankOf(b));
    return found;
  }
}

/** Reads objects for panels with the permissions of the caller. */
@Injectable()
export class PanelSource {
  constructor(
    private readonly table: RouteTable,
    private readonly options: OptionsService,
    private readonly resources: ResourceService,
  ) {}

  /** Returns the parts of a POST that the caller may use, as far as they are known in advance. */
  async openParts(path: string, actor: Actor): Promise<OpenParts> {
    const route = this.table.match(path)?.routes.get('POST');
    return route ? this.options.openParts(route, path, actor) : NOTHING_OPEN;
  }

  /**
   * Returns an object after JSON serialization: dates are text.
   *
   * @throws NotFound or Forbidden, like the URL of the object
   */
  async object(definition: ResourceDefinition, id: number | string, actor: Actor): Promise<Item> {
    const row = await this.resources.load(definition, id, actor);
    return asItem(await this.resources.show(definition, row, actor));
  }

  /** Returns the id of an object by its id or its natural key. @throws NotFound or Forbidden like `object` */
  async idOf(definition: ResourceDefinition, key: string, actor: Actor): Promise<number> {
    return (await this.resources.load(definition, key, actor)).id;
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

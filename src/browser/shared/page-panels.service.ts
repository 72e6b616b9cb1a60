import { Injectable, SetMetadata } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import type { Actor } from '../../common/access.js';
import type { QueryParameters } from '../../common/list/query.js';
import { BrokenInvariant } from '../../common/invariants.js';
import { memberOf } from '../../common/records.js';
import type { Html } from './html.js';
import type { FormRefusal } from './refusal.js';

const PANEL_OF = 'controller:page-panel';

/** The input of a panel. */
export interface PanelContext<Shown extends object = object> {
  /** The representation that the page shows. */
  object: Shown & Readonly<Record<string, unknown>>;
  actor: Actor;
  /** Token for forms of the panel. */
  csrf: string;
  /** Query string of the page. */
  query: QueryParameters;
  /** Path of the page, for forms that lead back to it. */
  path: string;
  /** `https://host` as the browser has it. */
  origin: string;
  /** Initial values of forms from the query string, by field. */
  presets: Readonly<Record<string, string>>;
  /** Why a form of one of the cards was refused. */
  refusal: FormRefusal | null;
  /** Values of the form whose response the page shows. */
  sent: Readonly<Record<string, unknown>>;
}

/** Adds a section to pages: of one kind of object above its fields, of one list, or of one answer. */
export interface Panel<Shown extends object = object> {
  /** Comes before other panels. */
  readonly leads?: boolean;
  /** Shows the rows of its list itself, in another way than as a table of them. */
  readonly showsRows?: boolean;
  /** Actions of the object that it has forms for, by the last part of their URLs: no others are needed. */
  readonly covers?: readonly string[];
  render(context: PanelContext<Shown>): Promise<Html | null> | Html | null;
}

const isPanel = (value: unknown): value is Panel => typeof memberOf(value, 'render') === 'function';

/**
 * Makes a provider a panel of the detail pages of these resource types, of the pages that these
 * operations answer, such as `teams_list`, or in place of the rows of a type wherever they are
 * listed, such as `team_rows`.
 */
export const PagePanel = (...keys: string[]): ClassDecorator => SetMetadata(PANEL_OF, keys);

/** The panels that the features declare. */
@Injectable()
export class PagePanels {
  private byType: Map<string, Panel[]> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
  ) {}

  /** Returns true when a panel shows the rows of the list of an operation. */
  showRows(operationId: string | undefined): boolean {
    return this.of(operationId ?? '').some(({ showsRows = false }) => showsRows);
  }

  async render(type: string, context: PanelContext): Promise<Html[]> {
    const sections: Html[] = [];
    for (const panel of this.of(type)) {
      const section = await panel.render(context);
      if (section) sections.push(section);
    }
    return sections;
  }

  /** Returns true when a key has panels. */
  has(type: string): boolean {
    return this.of(type).length > 0;
  }

  /** Returns true when a panel has the form of an action. */
  covers(type: string, action: string): boolean {
    return this.of(type).some(({ covers = [] }) => covers.includes(action));
  }

  private of(type: string): readonly Panel[] {
    this.byType ??= this.find();
    return this.byType.get(type) ?? [];
  }

  private find(): Map<string, Panel[]> {
    const found = new Map<string, Panel[]>();
    for (const { instance, metatype } of this.discovery.getProviders()) {
      if (!instance || !metatype) continue;
      const types = this.reflector.get<string[] | undefined>(PANEL_OF, metatype) ?? [];
      for (const type of types) {
        if (!isPanel(instance)) throw new BrokenInvariant(`${metatype.name} is a panel`);
        found.set(type, [...(found.get(type) ?? []), instance]);
      }
    }
    const placeOf = ({ leads = false }: Panel): number => (leads ? 0 : 1);
    for (const panels of found.values()) panels.sort((a, b) => placeOf(a) - placeOf(b));
    return found;
  }
}

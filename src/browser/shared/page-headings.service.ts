import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { Actor } from '../../common/access.js';
import { isRecord } from '../../common/records.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import type { TableEntry, TableRoute } from '../../common/rest/route-table.service.js';
import { decodedPart } from '../../common/fields/text.js';
import { segmentLabel } from './breadcrumbs.js';
import { PageTrail, type Breadcrumb } from './page-trail.service.js';
import { titlesOf } from './titles.js';
import { objectTitleOf } from './value-views.js';
import { isIdText } from '../../common/resource/ids.js';

/** The parts of a page that determine its title and breadcrumbs. */
interface HeadingInput {
  /** Path with a trailing slash. */
  path: string;
  entry: TableEntry | undefined;
  route: TableRoute | undefined;
  actor: Actor | null;
  status: number;
  body: unknown;
  /** Row of the object in the path, if the caller may read the object. */
  target: Row | undefined;
}

interface PageHeading {
  title: string;
  /** Name of the object whose action, list or part the page shows; null for other pages. */
  parent: string | null;
  /** Names of the objects in the path, by URL. */
  names: ReadonlyMap<string, string>;
  /** Breadcrumbs before the object in the path. */
  trail: readonly Breadcrumb[];
}

interface Subject {
  definition: ResourceDefinition;
  /** Id or name of the object in the path. */
  segment: string;
  url: string;
}

/**
 * Finds the title and breadcrumbs of a page, with the names of objects that the caller may read.
 */
@Injectable()
export class PageHeadings {
  constructor(
    private readonly database: Database,
    private readonly trails: PageTrail,
  ) {}

  async find(page: HeadingInput): Promise<PageHeading> {
    const { actor, target } = page;
    const subject = subjectOf(page);
    if (!subject || !actor)
      return { title: titleFor(page, new Map()), parent: null, names: new Map(), trail: [] };
    const name = await this.nameFor(page, subject, actor);
    const names = new Map(name ? [[subject.url, name]] : []);
    const { definition } = subject;
    const isDetailPath = subject.url === `/api/v2/${definition.path}/${subject.segment}/`;
    return {
      title: titleFor(page, names),
      parent: page.path === subject.url ? null : name,
      names,
      trail: isDetailPath && target ? await this.trails.before(definition, target, actor) : [],
    };
  }

  private async nameFor(
    { path, status, body }: HeadingInput,
    { definition, segment, url }: Subject,
    actor: Actor,
  ): Promise<string | null> {
    if (url === path && isRecord(body) && status < 400 && 'id' in body) return objectTitleOf(body);
    if (!definition.stored || !isIdText(definition, segment)) return decodedPart(segment);
    const titles = await titlesOf(definition, [Number(segment)], {
      database: this.database,
      actor,
    });
    return titles.get(Number(segment)) ?? null;
  }
}

/** Returns the object of the path: that of the page, or that to which the list or action of the page belongs. */
function subjectOf({ path, entry, route }: HeadingInput): Subject | null {
  const anyRoute = route ?? [...(entry?.routes.values() ?? [])][0];
  const definition = anyRoute?.info?.parent;
  const index = entry?.pattern.split('/').indexOf(':id') ?? -1;
  const segments = path.split('/');
  const segment = segments[index];
  if (!definition || index < 0 || !segment) return null;
  return { definition, segment, url: `${segments.slice(0, index + 1).join('/')}/` };
}

function titleFor(
  { path, route, body, entry }: HeadingInput,
  names: ReadonlyMap<string, string>,
): string {
  const last = path.split('/').filter(Boolean).at(-1) ?? '';
  if (isRecord(body) && route?.info?.kind === 'retrieve' && 'id' in body)
    return objectTitleOf(body);
  const name = names.get(path);
  if (name) return name;
  if (last === 'v2') return 'API version 2';
  if (last === 'api') return 'API';
  const { parent } = route?.info ?? {};
  if (parent && entry?.pattern.endsWith(':id')) return `${parent.label} ${decodedPart(last)}`;
  return entry ? segmentLabel(last, entry) : 'Not found';
}

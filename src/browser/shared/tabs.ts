import type { RouteTable, TableEntry, TableRoute } from '../../common/rest/route-table.service.js';
import { attributes, html, type Html } from './html.js';

/** Labels of tabs by the path below the object. An object has the tabs whose paths exist. */
const PARTS: readonly (readonly [part: string, label: string, anchor?: string])[] = [
  ['jobs', 'Runs'],
  ['workflow_jobs', 'Runs'],
  ['project_updates', 'Runs'],
  ['inventory_updates', 'Runs'],
  ['approvals', 'Runs'],
  ['workflow_nodes', 'Nodes'],
  ['job_events', 'Events'],
  ['events', 'Events'],
  ['job_host_summaries', 'Results'],
  ['hosts', 'Hosts'],
  ['groups', 'Groups'],
  ['children', 'Children'],
  ['ansible_facts', 'Facts'],
  ['inventory_sources', 'Sources'],
  ['ad_hoc_commands', 'Commands'],
  ['input_sources', 'Input sources'],
  ['playbooks', 'Playbooks'],
  ['instances', 'Instances'],
  ['instance_groups', 'Instance groups'],
  ['galaxy_credentials', 'Galaxy credentials'],
  ['organizations', 'Organizations'],
  ['teams', 'Teams'],
  ['users', 'Users'],
  ['tokens', 'Tokens'],
  ['maps', 'Maps'],
  ['schedules', 'Schedules'],
  ['notification_templates_error', 'Notifications', 'notifications'],
  ['notifications', 'Notifications'],
  ['webhook', 'Webhook'],
  ['survey_spec', 'Survey'],
  ['access_list', 'Access'],
  ['activity_stream', 'Activity'],
];

/** A link to a part of an object. */
export interface Tab {
  label: string;
  path: string;
  /** Id of the card on the object's page that shows the part; absent if the part has a page. */
  anchor?: string;
  route: TableRoute;
}

/** Returns the path of the object that a page shows or is a part of; null for other pages. */
export function objectPathOf(entry: TableEntry | undefined, path: string): string | null {
  const end = (entry?.pattern.split('/').indexOf(':id') ?? -1) + 1;
  return end === 0 ? null : `${path.split('/').slice(0, end).join('/')}/`;
}

/** Returns the parts of an object with pages. */
export function tabsOf(table: RouteTable, object: string): Tab[] {
  return PARTS.flatMap(([part, label, anchor]) => {
    const path = `${object}${part}/`;
    const entry = table.match(path);
    const route = entry?.pattern.endsWith(`:id/${part}`) ? entry.routes.get('GET') : undefined;
    return route ? [{ label, path, route, ...(anchor === undefined ? {} : { anchor }) }] : [];
  });
}

/** Renders the tabs of an object: its own page and its parts. */
export function tabList(tabs: readonly Tab[], object: string, currentPath: string): Html | null {
  if (tabs.length === 0) return null;
  const link = (label: string, path: string, more: string): Html =>
    html`<a
      href="${path}${more}"
      ${attributes({ 'aria-current': path === currentPath && more[0] !== '#' && 'page' })}
      >${label}</a
    >`;
  return html`<nav class="tabs" aria-label="Sections">
    ${link('Overview', object, '')}
    ${tabs.map(({ label, path, anchor, route }) =>
      anchor === undefined ? link(label, path, orderOf(route)) : link(label, object, `#${anchor}`),
    )}
  </nav>`;
}

/** Returns the query string with the order for links to a list; empty without such an order. */
export function orderOf({ info }: TableRoute): string {
  const order = info?.kind === 'list' ? info.resource?.pages.linkedOrder : undefined;
  return order === undefined ? '' : `?order_by=${order}`;
}

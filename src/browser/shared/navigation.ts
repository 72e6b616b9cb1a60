import type { Actor } from '../../common/access.js';
import { attributes, html, type Html } from './html.js';
import { icon, type IconName } from './icons.js';

interface SidebarItem {
  label: string;
  icon: IconName;
  /** Collection below `/api/v2/` that the item opens. */
  path: string;
  /** Query string of the link, such as the order of the list. */
  query?: string;
  /** Other collections whose pages belong to the item. */
  includes?: readonly string[];
  /** Returns true for users who may open the item; default: all users. */
  isOpenTo?: (actor: Actor) => boolean;
}

const NEWEST_FIRST = '?order_by=-id';

/** Items of the sidebar by group, in order. */
const GROUPS: Readonly<Record<string, readonly SidebarItem[]>> = {
  Runs: [
    {
      label: 'Jobs',
      icon: 'job',
      path: 'unified_jobs',
      query: NEWEST_FIRST,
      includes: [
        'jobs',
        'workflow_jobs',
        'workflow_job_nodes',
        'project_updates',
        'inventory_updates',
        'ad_hoc_commands',
        'system_jobs',
        'job_events',
        'job_host_summaries',
      ],
    },
    {
      label: 'Approvals',
      icon: 'approval',
      path: 'workflow_approvals',
      query: NEWEST_FIRST,
      includes: ['workflow_approval_templates'],
    },
    { label: 'Schedules', icon: 'schedule', path: 'schedules' },
    { label: 'Activity', icon: 'activity', path: 'activity_stream', query: NEWEST_FIRST },
  ],
  Automation: [
    {
      label: 'Templates',
      icon: 'template',
      path: 'unified_job_templates',
      includes: ['job_templates', 'system_job_templates'],
    },
    {
      label: 'Workflows',
      icon: 'workflow',
      path: 'workflow_job_templates',
      includes: ['workflow_job_template_nodes'],
    },
    { label: 'Projects', icon: 'project', path: 'projects' },
    {
      label: 'Inventories',
      icon: 'inventory',
      path: 'inventories',
      includes: ['constructed_inventories', 'inventory_sources', 'groups'],
    },
    { label: 'Hosts', icon: 'host', path: 'hosts', includes: ['host_metrics'] },
    {
      label: 'Credentials',
      icon: 'credential',
      path: 'credentials',
      includes: ['credential_types', 'credential_input_sources'],
    },
  ],
  Integrations: [
    {
      label: 'Webhooks',
      icon: 'webhook',
      path: 'webhook_deliveries',
      query: NEWEST_FIRST,
      includes: ['webhook_status_posts'],
    },
    {
      label: 'Notifications',
      icon: 'notification',
      path: 'notification_templates',
      includes: ['notifications', 'notification_attempts'],
    },
  ],
  Access: [
    { label: 'Organizations', icon: 'organization', path: 'organizations' },
    { label: 'Teams', icon: 'team', path: 'teams' },
    {
      label: 'Users',
      icon: 'user',
      path: 'users',
      includes: ['me', 'tokens', 'roles', 'external_identities'],
    },
    { label: 'Applications', icon: 'application', path: 'applications' },
  ],
  System: [
    { label: 'Instances', icon: 'instance', path: 'instances' },
    { label: 'Instance groups', icon: 'instanceGroup', path: 'instance_groups' },
    {
      label: 'Execution environments',
      icon: 'environment',
      path: 'execution_environments',
    },
    {
      label: 'Authenticators',
      icon: 'authenticator',
      path: 'authenticators',
      includes: ['authenticator_maps'],
      isOpenTo: ({ isSuperuser }) => isSuperuser,
    },
    {
      label: 'Settings',
      icon: 'settings',
      path: 'settings',
      isOpenTo: ({ isSuperuser, isSystemAuditor }) => isSuperuser || isSystemAuditor,
    },
  ],
};

/** Returns the sidebar items whose label contains the text and that the caller may open. */
export function pagesNamed(text: string, actor: Actor): { label: string; href: string }[] {
  const wanted = text.trim().toLowerCase();
  const items = Object.values(GROUPS)
    .flat()
    .filter(({ isOpenTo }) => isOpenTo?.(actor) ?? true);
  return items
    .filter(({ label }) => wanted !== '' && label.toLowerCase().includes(wanted))
    .map(({ label, path, query = '' }) => ({ label, href: `/api/v2/${path}/${query}` }));
}

/** Renders the sidebar: groups of links, with the item of the current page marked. */
export function sidebar(actor: Actor, path: string): Html {
  const collection = /^\/api\/v2\/([^/]+)\//.exec(path)?.[1] ?? '';
  return html`<nav class="side" aria-label="Main">
    ${sideLink({ label: 'Dashboard', icon: 'dashboard', href: '/', isCurrent: path === '/', isPage: true })}
    ${Object.entries(GROUPS).map(([title, items]) =>
      group(
        title,
        items
          .filter(({ isOpenTo }) => isOpenTo?.(actor) ?? true)
          .map((item) =>
            sideLink({
              label: item.label,
              icon: item.icon,
              href: `/api/v2/${item.path}/${item.query ?? ''}`,
              isCurrent: item.path === collection || (item.includes?.includes(collection) ?? false),
              isPage: path === `/api/v2/${item.path}/`,
            }),
          ),
      ),
    )}
  </nav>`;
}

const group = (title: string, links: readonly Html[]): Html =>
  html`<p id="side-${title}">${title}</p>
    <ul aria-labelledby="side-${title}">
      ${links.map((link) => html`<li>${link}</li>`)}
    </ul>`;

interface SideLink {
  label: string;
  icon: IconName;
  href: string;
  /** True if the current page belongs to the item. */
  isCurrent: boolean;
  /** True if the current page is the page of the item. */
  isPage: boolean;
}

const sideLink = ({ label, icon: name, href, isCurrent, isPage }: SideLink): Html =>
  html`<a href="${href}" ${attributes({ 'aria-current': isCurrent && (isPage ? 'page' : 'true') })}
    >${icon(name)}${label}</a
  >`;

import type { Response } from 'express';
import { CSRF_FIELD } from '../../common/http/csrf.js';
import { Reply } from '../../common/http/reply.js';
import { assetUrl } from './assets.js';
import { attributes, html, type Html, type HtmlValue } from './html.js';
import { THEMES, withQuery, type PageContext, type Theme } from './page-context.js';

const SELF_FORMS = "form-action 'self'";

/**
 * Content security policy that forbids inline code and other servers, so that unescaped input
 * cannot run.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  SELF_FORMS,
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': PAGE_POLICY,
};

/**
 * Sets the headers of a page.
 *
 * @param formTargets other servers to which the response to a form of the page can redirect
 */
export function setPageHeaders(response: Response, formTargets: readonly string[] = []): void {
  for (const [name, text] of Object.entries(PAGE_HEADERS)) response.setHeader(name, text);
  const policy = PAGE_POLICY.replace(SELF_FORMS, [SELF_FORMS, ...formTargets].join(' '));
  response.setHeader('Content-Security-Policy', policy);
}

/** Returns a page as the reply of a handler. */
export const pageReply = (text: string): Reply => new Reply(200, text, PAGE_HEADERS);

export interface PageParts {
  context: PageContext;
  title: string;
  content: Html;
  /** True for a narrow page, which has one form or one message. */
  narrow?: boolean;
}

/** Renders the whole document of a page. */
export function page({ context, title, content, narrow = false }: PageParts): string {
  return html`<!doctype html>
    <html lang="en" ${attributes({ 'data-theme': context.theme })}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} – Automation Controller</title>
        <link rel="icon" href="${assetUrl('favicon.svg')}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assetUrl('controller.css')}" />
        <link rel="stylesheet" href="${assetUrl('panels.css')}" />
        <script src="${assetUrl('controller.js')}" defer></script>
        <script src="${assetUrl('forms.js')}" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        ${header(context)}
        <main id="main" tabindex="-1" class="${narrow ? 'narrow' : 'wide'}">${content}</main>
      </body>
    </html> `.text;
}

const header = (context: PageContext): Html =>
  html` <header class="bar">
    <a class="brand" href="/"> <img class="mark" src="/logo/" alt="" />Automation Controller </a>
    <nav aria-label="Main">${tasksOf(context).map((task) => taskLink(task, context.path))}</nav>
    <div class="bar-end">
      ${context.actor && searchBox()} ${themeSwitch(context)} ${account(context)}
    </div>
  </header>`;

/** The links of the navigation bar. */
const TASKS: readonly (readonly [label: string, path: string, query?: string])[] = [
  ['Jobs', '/api/v2/unified_jobs/', '?order_by=-id'],
  ['Templates', '/api/v2/unified_job_templates/'],
  ['Inventories', '/api/v2/inventories/'],
  ['Projects', '/api/v2/projects/'],
  ['Notifications', '/api/v2/notification_templates/'],
  ['Webhooks', '/api/v2/webhook_deliveries/', '?order_by=-id'],
  ['Activity', '/api/v2/activity_stream/', '?order_by=-id'],
  ['Access', '/api/v2/organizations/'],
  ['Settings', '/api/v2/settings/'],
  ['API', '/api/v2/'],
  ['Explorer', '/api/docs/'],
];

const tasksOf = ({ actor }: PageContext): typeof TASKS =>
  actor?.isSuperuser ? [...TASKS, ['Authenticators', '/api/v2/authenticators/']] : TASKS;

function taskLink([label, path, query = '']: (typeof TASKS)[number], current: string): Html {
  const isHere = path === '/api/v2/' ? current === path : current.startsWith(path);
  return html`<a href="${path}${query}" ${attributes({ 'aria-current': isHere && 'true' })}
    >${label}</a
  >`;
}

const searchBox = (): Html =>
  html`<form class="bar-search" method="get" action="/search/" role="search">
    <input
      type="search"
      name="q"
      aria-label="Find anything"
      placeholder="Find anything"
      maxlength="512"
    />
  </form>`;

const THEME_LABELS: Record<Theme, string> = {
  auto: 'Theme of the system',
  light: 'Light theme',
  dark: 'Dark theme',
};

function themeSwitch({ path, query, theme }: PageContext): Html {
  return html`<form class="theme" method="get" action="${path}" data-theme-switch>
    ${hiddenQuery(query, [])}
    ${THEMES.map(
      (one) =>
        html`<button
          name="_theme"
          value="${one}"
          class="icon icon-${one}"
          title="${THEME_LABELS[one]}"
          aria-pressed="${String(one === theme)}"
        >
          <span class="hidden">${THEME_LABELS[one]}</span>
        </button>`,
    )}
  </form>`;
}

function account({ actor, csrf, path, query }: PageContext): Html {
  if (!actor) {
    const next = /^\/(?:api\/login|sso)\b/.test(path) ? '/' : path + withQuery(query);
    return html`<a class="button" href="/api/login/${withQuery({}, { next })}">Log in</a>`;
  }
  return html`<a class="who" href="/api/v2/users/${actor.id}/">${actor.username}</a>
    <form method="post" action="/api/logout/">
      ${csrfInput(csrf)}<button class="quiet">Log out</button>
    </form>`;
}

export const csrfInput = (csrf: string): Html =>
  html`<input type="hidden" name="${CSRF_FIELD}" value="${csrf}" />`;

/** Renders query parameters as hidden inputs, to keep them in a GET form. */
export const hiddenQuery = (query: PageContext['query'], without: readonly string[]): Html[] =>
  Object.entries(query)
    .filter(([name]) => !without.includes(name))
    .flatMap(([name, value]) =>
      [value ?? []]
        .flat()
        .map((one) => html`<input type="hidden" name="${name}" value="${one}" />`),
    );

/**
 * Renders a folded section, which works without scripts, with the keyboard, and for links to its
 * id.
 */
export const folded = (
  summary: HtmlValue,
  content: HtmlValue,
  { id, open = false, kind = 'panel' }: { id?: string; open?: boolean; kind?: string } = {},
): Html =>
  html`<details class="${kind}" ${attributes({ open })}>
    <summary>${summary}</summary>
    <div class="folded" ${attributes({ id })}>${content}</div>
  </details>`;

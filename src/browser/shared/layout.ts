import type { Response } from 'express';
import * as json from '../../common/fields/json-schema.js';
import { CSRF_FIELD } from '../../common/http/csrf.js';
import { Reply } from '../../common/http/reply.js';
import { queryEntries } from '../../common/list/query.js';
import type { RouteInfo } from '../../common/rest/route.js';
import { assetUrl } from './assets.js';
import { attributes, hiddenInput, html, type Html, type HtmlValue } from './html.js';
import { icon } from './icons.js';
import { sidebar } from './navigation.js';
import { formUrl } from './form-parameters.js';
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
export const pageReply = (text: string, status = 200): Reply =>
  new Reply(status, text, PAGE_HEADERS);

/** Route whose response is a page outside `/api`. */
export const PAGE_ROUTE = {
  kind: 'document',
  outsideApi: true,
  produces: 'text/html',
  response: json.STRING,
} as const satisfies Partial<RouteInfo>;

interface PageParts {
  context: PageContext;
  title: string;
  content: Html;
  /** True for a narrow page, with one form or one message. */
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
        <script src="${assetUrl('forms.js')}" data-editor="${assetUrl('editor.js')}" defer></script>
      </head>
      <body class="${context.actor ? 'with-side' : ''}">
        <a class="skip" href="#main">Skip to content</a>
        ${header(context)} ${context.actor && sidebar(context.actor, context.path)}
        <main id="main" tabindex="-1" class="${narrow ? 'narrow' : 'wide'}">${content}</main>
        ${FOOTER}
      </body>
    </html> `.text;
}

/** Renders a page with one card, such as a login form. */
export const cardPage = (
  context: PageContext,
  title: string,
  content: HtmlValue,
  error?: string,
): string =>
  page({
    context,
    title,
    narrow: true,
    content: html`<section class="card login">
      <h1>${title}</h1>
      ${error && html`<p class="message error" role="alert">${error}</p>`} ${content}
    </section>`,
  });

const header = (context: PageContext): Html =>
  html`<header class="bar">
    ${context.actor && DRAWER}
    <a class="brand" href="/"> <img class="mark" src="/logo/" alt="" />Automation Controller </a>
    <div class="bar-end">${context.actor && searchBox()} ${account(context)}</div>
  </header>`;

/** Check box that opens the sidebar on small screens; the style sheet reads its state. */
const DRAWER = html`<input type="checkbox" id="drawer" class="hidden" /><label
    for="drawer"
    class="drawer"
    >${icon('menu')}<span class="hidden">Menu</span></label
  >`;

/** Links for developers, in the footer and the user menu. */
const TECHNICAL = html`<a href="/api/v2/">API</a> <a href="/api/docs/">Explorer</a>
  <a href="/api/openapi.json">OpenAPI document</a>`;

const FOOTER = html`<footer class="foot">${TECHNICAL}</footer>`;

const searchBox = (): Html =>
  html`<form class="bar-search" method="get" action="/search/" role="search" aria-label="Site">
    <input
      type="search"
      name="q"
      aria-label="Find anything"
      placeholder="Find anything"
      maxlength="512"
    />
  </form>`;

const THEME_LABELS: Record<Theme, string> = {
  auto: 'System theme',
  light: 'Light theme',
  dark: 'Dark theme',
};

function themeSwitch({ path, query, theme }: PageContext): Html {
  return html`<form class="theme" method="get" action="${path}" data-theme-switch>
    ${hiddenQuery(query, [])}
    ${THEMES.map(
      (choice) =>
        html`<button
          name="_theme"
          value="${choice}"
          class="icon"
          title="${THEME_LABELS[choice]}"
          aria-pressed="${String(choice === theme)}"
        >
          ${icon(choice)}<span class="hidden">${THEME_LABELS[choice]}</span>
        </button>`,
    )}
  </form>`;
}

/** Renders the user menu; for anonymous users, the themes and a link to the login page. */
function account(context: PageContext): Html {
  const { actor, csrf, path, query } = context;
  if (!actor) {
    const next = /^\/(?:api\/login|sso)\b/.test(path) ? '/' : path + withQuery(query);
    return html`${themeSwitch(context)}
      <a class="button" href="/api/login/${withQuery({}, { next })}">Log in</a>`;
  }
  const profile = `/api/v2/users/${actor.id}/`;
  return html`<details class="account" data-menu>
    <summary>${icon('user')}<span>${actor.username}</span></summary>
    <div class="menu">
      <a href="${profile}">Profile</a>
      <a href="${formUrl(profile, 'patch')}">Change password</a>
      <a href="${profile}tokens/">Tokens</a>
      ${themeSwitch(context)} ${TECHNICAL}
      <form method="post" action="/api/logout/">
        ${csrfInput(csrf)}<button class="quiet">Log out</button>
      </form>
    </div>
  </details>`;
}

export const csrfInput = (csrf: string): Html => hiddenInput(CSRF_FIELD, csrf);

/** Renders query parameters as hidden inputs, to keep them in a GET form. */
export const hiddenQuery = (query: PageContext['query'], without: readonly string[]): Html[] =>
  queryEntries(query)
    .filter(([name]) => !without.includes(name))
    .map(([name, value]) => hiddenInput(name, value));

/**
 * Renders a collapsible section, which works without scripts, with the keyboard, and for links to
 * its id.
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

/** Heading of a column of buttons, for screen readers only. */
export const ACTIONS_HEADING = html`<span class="hidden">Actions</span>`;

/**
 * Renders a table that scrolls sideways and stacks its cells on narrow screens.
 *
 * @param label name of the table for screen readers
 * @param headings headings of the columns; false omits one heading, an empty list the row of headings
 */
export const scrollTable = (
  label: string,
  headings: readonly HtmlValue[],
  rows: HtmlValue,
  classes?: string,
): Html =>
  groupedTable(
    label,
    headings,
    html`<tbody>
      ${rows}
    </tbody>`,
    classes,
  );

/** Renders a `scrollTable` with a `tbody` for each group of rows. */
export const groupedTable = (
  label: string,
  headings: readonly HtmlValue[],
  groups: HtmlValue,
  classes = 'stacks',
): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table class="${classes}">
      ${headings.length > 0 && headingRow(headings)} ${groups}
    </table>
  </div>`;

const headingRow = (headings: readonly HtmlValue[]): Html =>
  html`<thead>
    <tr>
      ${headings.map((heading) => heading !== false && html`<th scope="col">${heading}</th>`)}
    </tr>
  </thead>`;

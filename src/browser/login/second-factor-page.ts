import { renderSVG } from 'uqr';
import { html, Html, type HtmlValue } from '../shared/html.js';
import { csrfInput, page } from '../shared/layout.js';
import { codeField } from '../shared/login-page.js';
import { noticeView } from '../shared/notices.js';
import type { PageContext } from '../shared/page-context.js';
import { hiddenInput, panelCard, panelForm } from '../shared/panel-forms.js';
import { refusalView } from '../shared/refusal.js';

export const PAGE_PATH = '/second-factor/';
const TITLE = 'Second factor';

/** Parts of all pages of the second factor. */
interface Parts {
  /** Path to continue at. */
  next: string;
  error?: string | undefined;
}

function document(context: PageContext, error: string, content: HtmlValue): string {
  return page({
    context,
    title: TITLE,
    narrow: true,
    content: html`<section class="card login">
      <h1>${TITLE}</h1>
      ${error && html`<p class="message error" role="alert">${error}</p>`} ${content}
    </section>`,
  });
}

const passwordField = (isRequired: boolean): Html =>
  html`<div class="field">
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="current-password"
      ${isRequired && 'required'}
    />
  </div>`;

const stepForm = (context: PageContext, step: string, next: string, content: HtmlValue): Html =>
  html`<form method="post" action="${PAGE_PATH}${step}/" class="stack">
    ${csrfInput(context.csrf)} ${hiddenInput('next', next)} ${content}
  </form>`;

/** Renders the page of a user without a second factor. */
export const startPage = (context: PageContext, { next, error = '' }: Parts): string =>
  document(
    context,
    error,
    html`<p class="description">
        With a second factor, a login with your password also asks for a code of an authenticator
        app on your phone. Sessions in other browsers end, and HTTP Basic is refused for your
        account; tokens continue to work.
      </p>
      ${stepForm(
        context,
        'begin',
        next,
        html`${passwordField(true)} <button class="primary">Set up authenticator app</button>`,
      )}`,
  );

/** Renders the page with a new secret. */
export const secretPage = (
  context: PageContext,
  { next, error = '', secret, uri, setup }: Parts & { secret: string; uri: string; setup: string },
): string =>
  document(
    context,
    error,
    html`<p class="description">Scan this code with your authenticator app, or enter the secret.</p>
      <div class="qr" role="img" aria-label="QR code of the secret">
        ${new Html(renderSVG(uri, { border: 2 }))}
      </div>
      <p>Secret: <code>${secret.replace(/.{4}(?!$)/g, '$& ')}</code></p>
      ${stepForm(
        context,
        'confirm',
        next,
        html`${hiddenInput('setup', setup)} ${codeField('Code that the app shows')}
          <button class="primary">Confirm</button>`,
      )}`,
  );

/** Renders the page that shows recovery codes once. */
export const codesPage = (
  context: PageContext,
  { next, codes }: Parts & { codes: readonly string[] },
): string =>
  document(
    context,
    '',
    html`<p class="message warn" role="status">
        Keep these recovery codes in a safe place. They are shown only now. Each one replaces a code
        of the app once.
      </p>
      <pre class="recovery-codes">${codes.join('\n')}</pre>
      <p><a class="button primary" href="${next}">Continue</a></p>`,
  );

/** Renders the page of a user with a second factor. */
export const statePage = (
  context: PageContext,
  { next, error = '', user, codesLeft }: Parts & { user: number; codesLeft: number },
): string =>
  document(
    context,
    error,
    html`${noticeView(context)}
      <p class="description">
        Your account has a second factor, and ${codesLeft} unused recovery
        ${codesLeft === 1 ? 'code' : 'codes'}.
      </p>
      ${panelCard(
        'codes',
        'New recovery codes',
        stepForm(
          context,
          'codes',
          next,
          html`${codeField('Code of your authenticator app, or a recovery code')}
            <button>Replace recovery codes</button>`,
        ),
      )}
      ${panelCard(
        'remove',
        'Remove second factor',
        html`${refusalView(context.refusal, 'remove')}
        ${panelForm(
          {
            action: `/api/v2/users/${user}/remove_second_factor/`,
            csrf: context.csrf,
            returnTo: `${PAGE_PATH}#remove`,
            isToldThere: true,
            kind: 'stack',
          },
          html`${passwordField(true)} <button class="danger">Remove second factor</button>`,
        )}`,
      )}`,
  );

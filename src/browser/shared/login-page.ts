import { RESUME_FIELD } from './browser-form.js';
import type { Ceremony } from '../../auth/passkeys.service.js';
import { attributes, hiddenInput, html, type Html, type HtmlValue } from './html.js';
import { cardPage, csrfInput } from './layout.js';
import { withQuery, type PageContext } from './page-context.js';
import type { PendingForm } from './pending-form.js';

export interface LoginForm {
  /** Path to redirect to after the login. */
  next: string;
  error?: string;
  /** Value of the setting `CUSTOM_LOGIN_INFO`. */
  notice?: string;
  /** A form that was sent after the session had expired. */
  pending?: PendingForm | null;
  /** Identity providers that the user can log in with. */
  options?: readonly { name: string; slug: string }[];
  /** Login with only a passkey; null if passkeys do not work at this URL. */
  passkey?: Ceremony | null;
}

const PENDING_FIELD = 'pending';

/** Renders the login page, which works without JavaScript. */
export function loginPage(
  context: PageContext,
  { next, notice = '', error = '', pending = null, options = [], passkey = null }: LoginForm,
): string {
  return cardPage(
    context,
    'Log in',
    html`<p class="description">Use your account of this controller.</p>
      ${
        pending &&
        html`<p class="message warn" role="status">
          Your session has ended. After you log
          in${options.length > 0 && ' with a password or a passkey'}, the form is restored, except
          for passwords and other secrets.
        </p>`
      }
      ${notice && html`<p class="message">${notice}</p>`}
      ${error && html`<p class="message error" role="alert">${error}</p>`}
      <form method="post" action="/api/login/" class="stack">
        ${csrfInput(context.csrf)} ${hiddenInput('next', next)}
        ${pending && pendingInput(PENDING_FIELD, pending)}
        <div class="field">
          <label for="username">Username</label>
          <input
            id="username"
            name="username"
            autocomplete="username"
            autocapitalize="none"
            spellcheck="false"
            required
            autofocus
          />
        </div>
        <div class="field">
          <label for="password">Password</label>
          <input
            id="password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
          />
        </div>
        <button class="primary">Log in</button>
      </form>
      ${
        passkey &&
        passkeyForm({ kind: 'get', action: '/api/login/passkey/alone/', passkey, context }, [
          hiddenInput('next', next),
          pending && pendingInput(PENDING_FIELD, pending),
          html`<button class="button">Use a passkey</button>`,
        ])
      }
      ${options.map(({ name, slug }) => optionLink(name, slug, next))}`,
  );
}

/** Renders the page that asks for a second factor after the password. */
export function codePage(
  context: PageContext,
  { error = '', pending = null, passkey = null }: Pick<LoginForm, 'error' | 'pending' | 'passkey'>,
): string {
  return cardPage(
    context,
    'Enter a code',
    html`${
        passkey &&
        passkeyForm({ kind: 'get', action: '/api/login/passkey/', passkey, context }, [
          pending && pendingInput(PENDING_FIELD, pending),
          html`<button class="primary">Use a passkey</button>`,
        ])
      }
      <form method="post" action="/api/login/code/" class="stack">
        ${csrfInput(context.csrf)} ${pending && pendingInput(PENDING_FIELD, pending)}
        ${codeField('Code of your authenticator app, or a recovery code')}
        <button class="primary">Log in</button>
      </form>
      <p><a href="/api/login/">Log in as another user</a></p>`,
    error,
  );
}

interface PasskeyForm {
  /** Method of `navigator.credentials` that a script calls before the form is sent. */
  kind: 'create' | 'get';
  action: string;
  passkey: Ceremony;
  context: PageContext;
}

/** Renders a form that a script completes with a passkey. The form stays hidden without scripts. */
export const passkeyForm = (
  { kind, action, passkey, context }: PasskeyForm,
  content: HtmlValue,
): Html =>
  html`<form
    method="post"
    action="${action}"
    class="stack"
    hidden
    ${attributes({ [`data-passkey-${kind}`]: JSON.stringify(passkey.options) })}
  >
    ${csrfInput(context.csrf)} ${hiddenInput('state', passkey.state)}
    <input type="hidden" name="credential" /> ${content}
    <p class="message error" role="alert" hidden>The browser did not use a passkey. Try again.</p>
  </form>`;

export const codeField = (label: string): Html =>
  html`<div class="field">
    <label for="code">${label}</label>
    <input
      id="code"
      name="code"
      autocomplete="one-time-code"
      autocapitalize="none"
      spellcheck="false"
      maxlength="32"
      required
      autofocus
    />
  </div>`;

/** Renders a link: the content security policy would block the redirect of a form to another server. */
const optionLink = (name: string, slug: string, next: string): Html =>
  html`<p class="other-login">
    <a class="button" href="/sso/login/${slug}/${withQuery({}, { next })}">Log in with ${name}</a>
  </p>`;

const pendingInput = (name: string, pending: PendingForm): Html =>
  hiddenInput(name, JSON.stringify(pending));

/**
 * Renders the page after a login, with a button that restores the pending form. A script clicks the
 * button.
 */
export const resumePage = (
  context: PageContext,
  { next, pending }: { next: string; pending: PendingForm },
): string =>
  cardPage(
    context,
    'Logged in',
    html`<p class="description">The form has not been sent yet.</p>
      ${resumeForm(context, next, pending)}`,
  );

/** Renders the page after a form of an earlier session, and restores the form like `resumePage`. */
export const stalePage = (
  context: PageContext,
  { next, pending }: { next: string; pending: PendingForm | null },
): string =>
  cardPage(
    context,
    'Not sent',
    html`<p class="description">
        You have logged in again since the page was opened. Nothing has been changed.
      </p>
      ${pending ? resumeForm(context, next, pending) : html`<a class="button primary" href="${next}">Back to the page</a>`}`,
  );

const resumeForm = (context: PageContext, next: string, pending: PendingForm): Html =>
  html`<form method="post" action="${next}" class="stack" data-submit>
    ${csrfInput(context.csrf)} ${pendingInput(RESUME_FIELD, pending)}
    <button class="primary" autofocus>Back to the form</button>
  </form>`;

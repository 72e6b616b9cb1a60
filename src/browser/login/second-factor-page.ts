import { renderSVG } from 'uqr';
import type { Ceremony } from '../../auth/passkeys.service.js';
import type { SecondFactorState } from '../../auth/second-factors.service.js';
import { hiddenInput, html, Html, type HtmlValue } from '../shared/html.js';
import { cardPage, csrfInput } from '../shared/layout.js';
import { codeField, passkeyForm } from '../shared/login-page.js';
import { noticeView } from '../shared/notices.js';
import type { PageContext } from '../shared/page-context.js';
import { panelCard, panelForm, panelTextInput } from '../shared/panel-forms.js';
import { refusalView } from '../shared/refusal.js';

export const PAGE_PATH = '/second-factor/';
const TITLE = 'Second factor';

interface Parts {
  /** Path to redirect to at the end. */
  next: string;
  error?: string | undefined;
}

const document = (context: PageContext, error: string, content: HtmlValue): string =>
  cardPage(context, TITLE, content, error);

/** @param loginName asks a user of a directory for the username there, with this default */
const passwordFields = (id: string, loginName: string | null): Html =>
  html`${
      loginName !== null &&
      panelTextInput(
        { id: `${id}-username`, name: 'username', label: 'Username that you log in with' },
        { required: true, value: loginName, autocomplete: 'username', autocapitalize: 'none' },
      )
    }
    <div class="field">
      <label for="${id}">Password</label>
      <input id="${id}" name="password" type="password" autocomplete="current-password" required />
    </div>`;

const codeInput = (id: string): Html =>
  panelTextInput(
    { id, name: 'code', label: 'Code of your authenticator app, or a recovery code' },
    { required: true, maxlength: 32, autocomplete: 'one-time-code', autocapitalize: 'none' },
  );

const addPasskeyForm = (context: PageContext, next: string, proof: Html): Html =>
  stepForm(
    context,
    'passkeys/begin',
    next,
    html`${panelTextInput(
        { id: 'name', name: 'name', label: 'Name of the passkey, such as the device' },
        { required: true, maxlength: 100 },
      )}
      ${proof} <button>Add passkey</button>`,
  );

const appForm = (context: PageContext, next: string, proof: Html): Html =>
  stepForm(
    context,
    'begin',
    next,
    html`${proof} <button class="primary">Set up authenticator app</button>`,
  );

const stepForm = (context: PageContext, step: string, next: string, content: HtmlValue): Html =>
  html`<form method="post" action="${PAGE_PATH}${step}/" class="stack">
    ${csrfInput(context.csrf)} ${hiddenInput('next', next)} ${content}
  </form>`;

interface PasskeySupport {
  /** True if passkeys can be added. */
  offersPasskeys: boolean;
}

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Renders the page of a user without a second factor. */
export const startPage = (
  context: PageContext,
  {
    next,
    error = '',
    offersPasskeys,
    isRequired,
    loginName,
  }: Parts & PasskeySupport & { isRequired: boolean; loginName: string | null },
): string =>
  document(
    context,
    error,
    html`${
        isRequired &&
        html`<p class="message warn">
          Your account needs a second factor for logins with a password. Set up a second factor to
          continue.
        </p>`
      }
      <p class="description">
        With a second factor, a login with your password also asks for a code of an authenticator
        app on your phone, or for a passkey. Sessions in other browsers end, and HTTP Basic is
        refused for your account; tokens continue to work.
      </p>
      ${appForm(context, next, passwordFields('password', loginName))}
      ${
        offersPasskeys &&
        panelCard(
          'passkeys',
          'Passkey',
          addPasskeyForm(context, next, passwordFields('passkey-password', loginName)),
        )
      }`,
  );

/** Renders the page on which the browser creates a passkey. */
export const passkeyPage = (
  context: PageContext,
  { next, name, passkey }: Parts & { name: string; passkey: Ceremony },
): string =>
  document(
    context,
    '',
    html`<p class="description">Your browser asks for the passkey ${name}.</p>
      <noscript><p class="message warn">Passkeys need JavaScript.</p></noscript>
      ${passkeyForm(
        { kind: 'create', action: `${PAGE_PATH}passkeys/confirm/`, passkey, context },
        html`${hiddenInput('next', next)} ${hiddenInput('name', name)}
          <button class="primary" autofocus>Create passkey</button>`,
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

const passkeysCard = (
  context: PageContext,
  { next, passkeys, offersPasskeys }: Parts & PasskeySupport & Pick<SecondFactorState, 'passkeys'>,
): HtmlValue =>
  (offersPasskeys || passkeys.length > 0) &&
  panelCard('passkeys', 'Passkeys', [
    passkeys.map(({ id, name }) =>
      stepForm(
        context,
        'passkeys/remove',
        next,
        html`${hiddenInput('id', id)} <b>${name}</b> ${codeInput(`code-${id}`)}
          <button>Remove passkey</button>`,
      ),
    ),
    offersPasskeys && addPasskeyForm(context, next, codeInput('passkey-code')),
  ]);

/** Renders the page of a user with a second factor. */
export const statePage = (
  context: PageContext,
  {
    next,
    error = '',
    user,
    hasApp,
    passkeys,
    codesLeft,
    offersPasskeys,
  }: Parts & PasskeySupport & SecondFactorState & { user: number },
): string =>
  document(
    context,
    error,
    html`${noticeView(context)}
      <p class="description">
        Your account has ${hasApp ? 'an authenticator app' : 'no authenticator app'},
        ${count(passkeys.length, 'passkey')}, and ${count(codesLeft, 'unused recovery code')}.
      </p>
      ${!hasApp && panelCard('app', 'Authenticator app', appForm(context, next, codeInput('app-code')))}
      ${passkeysCard(context, { next, passkeys, offersPasskeys })}
      ${panelCard(
        'codes',
        'New recovery codes',
        stepForm(
          context,
          'codes',
          next,
          html`${codeInput('code')} <button>Replace recovery codes</button>`,
        ),
      )}
      ${panelCard(
        'remove',
        'Remove all second factors',
        html`${refusalView(context.refusal, 'remove')}
        ${panelForm(
          {
            action: `/api/v2/users/${user}/remove_second_factor/`,
            csrf: context.csrf,
            returnTo: `${PAGE_PATH}#remove`,
            errorsInCard: true,
            kind: 'stack',
          },
          html`${codeInput('removal-code')} <button class="danger">Remove second factor</button>`,
        )}`,
      )}`,
  );

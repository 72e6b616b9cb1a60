import {
  AUTHORIZATION_PARAMETERS,
  type ConsentRequest,
  type OAuthParameters,
} from '../../applications/authorization-server.service.js';
import { html } from '../shared/html.js';
import { csrfInput, page } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import { hiddenInput } from '../shared/panel-forms.js';

/** Field of the form with the decision of the user. */
export const DECISION = 'decision';
export const ALLOW = 'allow';

const SCOPE_TEXTS: Readonly<Record<string, string>> = {
  read: 'Read everything that you can read.',
  write: 'Read and change everything that you can, and launch jobs in your name.',
};

/** Renders the page that asks a user for consent. */
export function consentPage(
  context: PageContext,
  { application, redirectUri, scope }: ConsentRequest,
  parameters: OAuthParameters,
): string {
  return page({
    context,
    title: 'Authorize application',
    narrow: true,
    content: html`<section class="card login">
      <h1>Authorize ${application.name}?</h1>
      ${application.description && html`<p class="description">${application.description}</p>`}
      <p>${application.name} will be able to:</p>
      <ul>
        ${scope.map((name) => html`<li>${SCOPE_TEXTS[name]}</li>`)}
      </ul>
      <p class="description">
        You return to ${new URL(redirectUri).host || redirectUri}. Delete the token of the
        application to end its access.
      </p>
      <form method="post" action="/api/o/authorize/" class="stack">
        ${csrfInput(context.csrf)}
        ${Object.entries(parameters)
          .filter(([name]) => AUTHORIZATION_PARAMETERS.includes(name))
          .map(([name, value]) => hiddenInput(name, value))}
        <button class="primary" name="${DECISION}" value="${ALLOW}">Authorize</button>
        <button name="${DECISION}" value="deny">Cancel</button>
      </form>
    </section>`,
  });
}

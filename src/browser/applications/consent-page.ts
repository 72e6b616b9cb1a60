import type {
  ConsentRequest,
  OAuthParameters,
} from '../../applications/authorization-server.service.js';
import { html } from '../shared/html.js';
import { csrfInput, page } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';

/** Name of the button that consents. */
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
        ${Object.entries(parameters).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
        )}
        <button class="primary" name="${ALLOW}" value="1">Authorize</button>
        <button>Cancel</button>
      </form>
    </section>`,
  });
}

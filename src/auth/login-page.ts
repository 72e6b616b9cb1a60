import { html } from '../common/pages/html.js';
import { csrfInput, page } from '../common/pages/layout.js';
import type { PageContext } from '../common/pages/page-context.js';

/** The login form. Works without JavaScript. */
export function loginPage(
  context: PageContext,
  { next, notice, error = '' }: { next: string; notice: string; error?: string },
): string {
  return page({
    context,
    title: 'Log in',
    narrow: true,
    content: html`<section class="card login">
      <h1>Log in</h1>
      <p class="description">Use your account of this controller to browse the API.</p>
      ${notice && html`<p class="message">${notice}</p>`}
      ${error && html`<p class="message error" role="alert">${error}</p>`}
      <form method="post" action="/api/login/" class="stack">
        ${csrfInput(context.csrf)}
        <input type="hidden" name="next" value="${next}" />
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
    </section>`,
  });
}

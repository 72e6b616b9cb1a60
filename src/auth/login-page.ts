import { escapeHtml, page } from '../common/browsable/layout.js';

/** The login form. Works without JavaScript. */
export function loginPage(values: { csrf: string; next: string; error: string }): string {
  const error = values.error ? `<p class="error" role="alert">${escapeHtml(values.error)}</p>` : '';
  return page({
    title: 'Log in',
    content: `
      <main class="narrow">
        <h1>Log in</h1>
        ${error}
        <form method="post" action="/api/login/" class="stack">
          <input type="hidden" name="csrfmiddlewaretoken" value="${escapeHtml(values.csrf)}">
          <input type="hidden" name="next" value="${escapeHtml(values.next)}">
          <label>Username <input name="username" autocomplete="username" required autofocus></label>
          <label>Password
            <input name="password" type="password" autocomplete="current-password" required>
          </label>
          <button type="submit">Log in</button>
        </form>
      </main>`,
  });
}

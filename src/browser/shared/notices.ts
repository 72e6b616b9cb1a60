import { labelOf } from '../../common/fields/label.js';
import type { FormInput } from './forms.service.js';
import { html, type HtmlValue } from './html.js';
import type { PageContext } from './page-context.js';
import type { PendingForm } from './pending-form.js';

/**
 * Renders the result of the form that redirected to the page, and the fields that were ignored.
 *
 * @param hasFailed true to omit the result, for a run that has already failed
 */
export const noticeView = ({ notice }: PageContext, hasFailed = false): HtmlValue =>
  notice && [
    !hasFailed && html`<p class="message good" role="status">${notice.text}</p>`,
    notice.ignored.length > 0 &&
      html`<p class="message warn" role="alert">
        Ignored, because the template does not prompt for:
        ${notice.ignored.map(labelOf).join(', ')}.
      </p>`,
  ];

/** Returns the values that a form of the page had before the login. */
export function resumedFor(
  pending: PendingForm | undefined,
  { path, method }: { path: string; method: string },
): FormInput | undefined {
  if (pending?.path !== path) return undefined;
  // PUT and PATCH share one form.
  const methodOf = (method: string): string => (method === 'PUT' ? 'PATCH' : method);
  return methodOf(pending.method) === methodOf(method) ? { submission: pending } : undefined;
}

export const RESUMED = html`<p class="message warn" role="status">
  The form below is restored and has not been sent yet. Enter passwords and other secrets again.
</p>`;

import { Invalid, type FieldErrors } from '../../common/errors/errors.js';
import { PREVIEW_FIELD } from './browser-form.js';
import { messagesOf } from './form-errors.js';
import type { FormField } from './form-fields.js';
import { formBodyOf } from './form-values.js';
import type { FormRequest } from './forms.service.js';
import { html, type Html } from './html.js';

/** The preview of a form, or the errors that prevent it. */
export interface Preview {
  content: Html | null;
  errors: FieldErrors;
}

/** Returns the preview of a form; null for a form without a preview. */
export async function previewOf(
  { plan }: FormRequest,
  inputs: readonly FormField[],
): Promise<Preview | null> {
  if (!plan?.form.preview) return null;
  const values = Object.fromEntries(inputs.map(({ field, value }) => [field.name, value ?? '']));
  try {
    const fields = inputs.map(({ field }) => field);
    const filled = formBodyOf({ values, raw: null, secrets: [] }, fields);
    return { content: await plan.form.preview(filled), errors: {} };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    return { content: null, errors: plan.form.errorsIn?.(error.errors, values) ?? error.errors };
  }
}

/** Adds errors to the fields. */
export const withErrors = (
  inputs: readonly FormField[],
  errors: FieldErrors = {},
): readonly FormField[] =>
  inputs.map((input) => {
    const found = messagesOf(errors[input.field.name]);
    return found.length > 0 ? { ...input, errors: [...input.errors, ...found] } : input;
  });

/** Renders the preview and its button; a script updates the preview at each change. */
export const previewView = (key: string, { content }: Preview): Html =>
  html`<div class="preview span">
    <button name="${PREVIEW_FIELD}" value="true" formnovalidate>Preview</button>
    <div id="${key}-preview" data-preview role="status">
      ${content ?? html`<p class="hint">Fill in the form to see a preview.</p>`}
    </div>
  </div>`;

import type { Field } from '../../common/fields/field.js';
import { topErrors } from './form-errors.js';
import { isUpdate, type FormRequest } from './forms.service.js';
import { CONTENT_FIELD, METHOD_FIELD } from './browser-form.js';
import { html, type Html } from './html.js';
import { indentedJson } from './json-view.js';
import { csrfInput } from './layout.js';

/** Renders the raw form of a route, with the JSON body of the API. */
export function rawForm(
  { key, route, info, context, object, entered }: FormRequest,
  fields: readonly Field[],
): Html {
  const changing = isUpdate(route);
  const sample = Object.fromEntries(
    fields.map((field) => [
      field.name,
      (changing ? object?.[field.name] : undefined) ?? field.default ?? null,
    ]),
  );
  const initial = fields.length === 0 && changing ? (object ?? {}) : sample;
  const text = entered?.submission.raw ?? indentedJson(initial);
  const id = `raw-${key}`;
  const methods = changing ? ['PUT', 'PATCH'] : [route.method];
  return html`<form method="post" action="${context.path}">
    ${csrfInput(context.csrf)} ${topErrors(entered?.errors, [])}
    <div class="field span">
      <label for="${id}">JSON (application/json)</label>
      <textarea
        id="${id}"
        name="${CONTENT_FIELD}"
        class="code"
        rows="${Math.min(20, text.split('\n').length + 1)}"
        spellcheck="false"
        data-check="json"
      >
${text}</textarea>
      ${
        info.attach &&
        html`<p class="hint">
          Send <code>id</code> to add an existing object; also send <code>disassociate</code> to
          remove it.
        </p>`
      }
    </div>
    <div class="actions">
      ${methods.map((method) => html`<button name="${METHOD_FIELD}" value="${method}">${method}</button>`)}
    </div>
  </form>`;
}

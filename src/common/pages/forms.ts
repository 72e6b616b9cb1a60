import { Injectable } from '@nestjs/common';
import type { Actor } from '../access.js';
import { fieldsOf, Reference, type Field } from '../fields/field.js';
import type { FieldErrors } from '../errors/errors.js';
import type { TableRoute } from '../rest/route-table.js';
import type { OpenParts, RouteInfo } from '../rest/route.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { resource } from '../resource/registry.js';
import type { Submission } from './browser-form.js';
import { errorList, formField, type FormField } from './form-fields.js';
import { html, words, type Html, type HtmlValue } from './html.js';
import { csrfInput, folded } from './layout.js';
import type { PageContext } from './page-context.js';
import { ReferenceLists } from './reference-choices.js';
import type { Item } from './values.js';

/** What a form is made for. */
export interface FormRequest {
  route: TableRoute;
  info: RouteInfo;
  /** What the caller may send; the rest is not offered. */
  open: OpenParts;
  context: PageContext;
  actor: Actor;
  /** The object the page shows; its values fill a form that changes it. */
  object: Item | null;
  /** A form that was refused: what was entered, and what is wrong with it. */
  refused?: Refusal | undefined;
}

export interface Refusal {
  submission: Submission;
  errors: FieldErrors;
}

type FormPart = 'attach' | 'fields' | 'raw';

/** Draws the form of a route from the declaration that validates its requests. */
@Injectable()
export class Forms {
  constructor(private readonly references: ReferenceLists) {}

  /** The form of fields and the raw form of one route, in a section that can be folded. */
  async section(request: FormRequest): Promise<Html> {
    const { route, info, open, refused } = request;
    const fields = open.body ? formFields(info, route.method) : [];
    const part = refused && refusedPart(refused.submission, info);
    const forPart = (name: FormPart): FormRequest =>
      part === name ? request : { ...request, refused: undefined };
    const attaching = info.attach && open.attach ? await this.attachForm(forPart('attach')) : null;
    const byField = await this.fieldForm(forPart('fields'), fields);
    const raw = folded('Raw data', rawForm(forPart('raw'), fields), {
      open: part === 'raw' || (byField === null && attaching === null),
      kind: 'plain',
    });
    return folded(
      sectionTitle(route, info, { attaches: attaching !== null, makes: byField !== null }),
      html`${attaching}${byField}${raw}`,
      {
        id: `form-${route.method.toLowerCase()}`,
        open: refused !== undefined,
        kind: 'panel form',
      },
    );
  }

  private async fieldForm(request: FormRequest, fields: readonly Field[]): Promise<Html | null> {
    const { route, info, refused } = request;
    if (fields.length === 0) {
      return route.method === 'POST' && info.kind === 'action'
        ? html`<form method="post" action="${request.context.path}">
            ${csrfInput(request.context.csrf)}
            <p>${info.summary}</p>
            ${topErrors(refused?.errors, [])}
            <button class="primary">${actionTitle(route, info)}</button>
          </form>`
        : null;
    }
    const inputs: FormField[] = [];
    for (const field of fields) inputs.push(await this.input(request, field));
    return html`${info.attach && html`<h2>${actionTitle(route, info)}</h2>`}
      <form method="post" action="${request.context.path}" class="grid">
        ${csrfInput(request.context.csrf)}${methodInput(route.method)}
        ${topErrors(
          refused?.errors,
          fields.map(({ name }) => name),
        )}
        ${inputs.map(formField)}
        <div class="actions span"><button class="primary">${actionTitle(route, info)}</button></div>
      </form>`;
  }

  private async input(request: FormRequest, field: Field): Promise<FormField> {
    const { route, info, refused, actor } = request;
    const value = valueFor(request, field);
    const choices =
      field.target &&
      (await this.references.load(field.target(), field.needs ?? 'read', idsOf(value), actor));
    return {
      field,
      id: `${route.method.toLowerCase()}-${field.name}`,
      value,
      errors: messagesOf(refused?.errors[field.name]),
      secret: isSecret(field, info.resource),
      ...(choices ? { choices } : {}),
    };
  }

  /** Takes an existing object onto the list. */
  private async attachForm({ info, context, actor, refused }: FormRequest): Promise<Html> {
    const target = info.resource!;
    const choices = await this.references.load(target, 'read', [], actor);
    const input: FormField = {
      field: { ...ATTACH_FIELD, label: target.label, target: () => target },
      id: 'attach-id',
      value: refused?.submission.values.id ?? '',
      errors: [],
      choices,
      secret: false,
    };
    return html`<h2>Add an existing ${target.label.toLowerCase()}</h2>
      <form method="post" action="${context.path}" class="inline">
        ${csrfInput(context.csrf)} ${topErrors(refused?.errors, [])} ${formField(input)}
        <button class="primary">Add</button>
      </form>`;
  }
}

/** Folded at first, so that a click on a button alone deletes nothing; needs no script. */
export const deleteSection = (context: PageContext, info: RouteInfo, title: string): Html =>
  folded(
    'Delete',
    html`<form method="post" action="${context.path}">
      ${csrfInput(context.csrf)}${methodInput('DELETE')}
      <p>${info.summary}</p>
      <p>Delete <strong>${title}</strong>? This cannot be undone.</p>
      <button class="danger">Delete ${title}</button>
    </form>`,
    { id: 'form-delete', kind: 'panel form danger' },
  );

/** Fields a person can fill in: writable, and not given by the URL. */
function formFields(info: RouteInfo, method: string): readonly Field[] {
  return (info.body ?? []).filter((field) => {
    if (field.readOnly || field.internal || field.hidden) return false;
    if (field.immutable && method !== 'POST') return false;
    const parent = info.parent !== info.resource ? info.parent : undefined;
    return !(parent && field.target?.() === parent && field.name === parent.type);
  });
}

/** "Create team", "Add user", or both where a list takes either. */
function sectionTitle(
  route: TableRoute,
  info: RouteInfo,
  { attaches, makes }: { attaches: boolean; makes: boolean },
): string {
  const title = actionTitle(route, info);
  if (!attaches) return title;
  return makes
    ? `Add or ${title.toLowerCase()}`
    : `Add ${info.resource?.label.toLowerCase() ?? 'object'}`;
}

/** What a form does, for its heading and its button: "Create team", "Rotate webhook key". */
export function actionTitle({ method, pattern }: TableRoute, info: RouteInfo): string {
  const label = info.resource?.label.toLowerCase() ?? '';
  if (info.kind === 'create') return `Create ${label}`;
  if (info.kind === 'associate') return `Add ${label}`;
  if (method === 'PUT' || method === 'PATCH') return label ? `Change ${label}` : 'Change';
  const segments = pattern.split('/').filter((part) => part !== '' && !part.startsWith(':'));
  const last = segments.at(-1) ?? '';
  const stem = `${segments.slice(2).join('_')}_`;
  const verb = info.operationId.startsWith(stem) ? info.operationId.slice(stem.length) : '';
  return words(verb === '' ? last : `${verb}_${last}`);
}

function valueFor({ object, refused }: FormRequest, field: Field): unknown {
  if (refused) return refused.submission.values[field.name];
  if (object && field.name in object) return object[field.name];
  return field.default;
}

const idsOf = (value: unknown): number[] =>
  [value].flat().flatMap((one) => (/^\d{1,9}$/.test(String(one)) ? [Number(one)] : []));

/** Secrets, and texts that the activity stream hides, such as the password of a user. */
const isSecret = (field: Field, definition: ResourceDefinition | undefined): boolean =>
  field.kind === 'secret' ||
  (['text', 'string'].includes(field.kind) &&
    (definition?.auditHidden.includes(field.name) ?? false));

class AttachSchema {
  @Reference(() => resource('user'), { required: true })
  id!: number;
}

/** The field of the form that adds an existing object; each list puts its own target in. */
const ATTACH_FIELD = fieldsOf(AttachSchema)[0]!;

/** Which of the forms of a section was sent. */
function refusedPart({ raw, values }: Submission, info: RouteInfo): FormPart {
  if (raw !== null) return 'raw';
  return info.attach && values.id !== undefined ? 'attach' : 'fields';
}

function rawForm(
  { route, info, context, object, refused }: FormRequest,
  fields: readonly Field[],
): Html {
  const changing = route.method === 'PUT' || route.method === 'PATCH';
  const sample = Object.fromEntries(
    fields.map((field) => [
      field.name,
      (changing ? object?.[field.name] : undefined) ?? field.default ?? null,
    ]),
  );
  const start = fields.length === 0 && changing ? (object ?? {}) : sample;
  const text = refused?.submission.raw ?? JSON.stringify(start, null, 2);
  const id = `raw-${route.method.toLowerCase()}`;
  const methods = changing ? ['PUT', 'PATCH'] : [route.method];
  return html`<form method="post" action="${context.path}">
    ${csrfInput(context.csrf)} ${topErrors(refused?.errors, [])}
    <div class="field span">
      <label for="${id}">JSON (application/json)</label>
      <textarea
        id="${id}"
        name="_content"
        class="code"
        rows="${Math.min(20, text.split('\n').length + 1)}"
        spellcheck="false"
        data-check="json"
      >
${text}</textarea>
      ${
        info.attach &&
        html`<p class="hint">
          An object with <code>id</code> adds an existing object, with <code>disassociate</code> too
          it removes it.
        </p>`
      }
    </div>
    <div class="actions">
      ${methods.map((method) => html`<button name="_method" value="${method}">${method}</button>`)}
    </div>
  </form>`;
}

const methodInput = (method: string): HtmlValue =>
  method !== 'POST' && html`<input type="hidden" name="_method" value="${method}" />`;

/** Messages that belong to no field of the form. */
function topErrors(errors: FieldErrors | undefined, shown: readonly string[]): HtmlValue {
  if (!errors) return null;
  const texts = Object.entries(errors)
    .filter(([name]) => !shown.includes(name))
    .flatMap(([name, value]) =>
      messagesOf(value).map((text) =>
        name === '__all__' || name === 'detail' ? text : `${words(name)}: ${text}`,
      ),
    );
  return texts.length > 0
    ? html`<div class="message error span" role="alert">${errorList(texts, 'form-errors')}</div>`
    : html`<p class="message error span" role="alert">Some fields need another look.</p>`;
}

/** Messages of one entry of an error body; those of nested entries with their place. */
export function messagesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) {
    return value.flatMap((one, index) =>
      typeof one === 'string' ? [one] : messagesOf(one).map((text) => `${index}: ${text}`),
    );
  }
  if (typeof value !== 'object') return [String(value as number)];
  return Object.entries(value).flatMap(([name, inner]) =>
    messagesOf(inner).map((text) => `${name}: ${text}`),
  );
}

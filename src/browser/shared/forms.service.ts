import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { fieldsOf, Reference, type Field } from '../../common/fields/field.js';
import { variablesFault } from '../../common/fields/variables.js';
import type { FieldErrors } from '../../common/errors/errors.js';
import type { TableRoute } from '../../common/rest/route-table.service.js';
import type { OpenParts, RouteInfo } from '../../common/rest/route.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { RETURN_FIELD, SECRET_FIELD, type Submission } from './browser-form.js';
import { choiceLinks, chosenView } from './form-choice.js';
import { errorsAt, messagesOf, topErrors } from './form-errors.js';
import { formField, type FormField } from './form-fields.js';
import { rowsIn } from './form-rows.js';
import { previewOf, previewView, withErrors } from './form-preview.js';
import { formParts } from './form-sections.js';
import { html, type Html, type HtmlValue } from './html.js';
import { csrfInput, folded } from './layout.js';
import type { PageContext } from './page-context.js';
import type { FormPlan } from './page-forms.service.js';
import { onlyOf, ReferenceLists } from '../../common/rest/reference-lists.service.js';
import { rawForm } from './raw-form.js';
import type { Item } from './values.js';
import { wordFor } from './words.js';
import { existing, itemAt } from '../../common/invariants.js';
import { isWritable } from '../../common/fields/reads.js';

/** The input of a form. */
export interface FormRequest {
  /** Starts the ids of its elements: unique on the page. */
  key: string;
  route: TableRoute;
  info: RouteInfo;
  /** Fields that the caller may send; the form shows no others. */
  open: OpenParts;
  /** Form that replaces the fields of the route. */
  plan: FormPlan | null;
  context: PageContext;
  actor: Actor;
  /** The object the page shows; its values fill a form that changes it. */
  object: Item | null;
  /** A form that is shown again. */
  entered?: Entered | undefined;
}

/** Values as entered, and errors by field of the form. */
export interface Entered {
  submission: Submission;
  errors?: FieldErrors;
}

type FormPart = 'attach' | 'fields' | 'raw';

/** Draws the form of a route from the declaration that validates its requests. */
@Injectable()
export class Forms {
  constructor(private readonly references: ReferenceLists) {}

  /**
   * The form of fields and the raw form of one route, in a section that can be folded.
   *
   * @param isBeside stands beside an object, and not on a page of its own
   */
  async section(request: FormRequest, isBeside = false): Promise<Html> {
    const { key, route, info, open, plan, context, entered } = request;
    const declared = open.body ? formFields(info, open, route.method) : [];
    const fields = plan
      ? formFields(info, { ...open, fields: plan.fields }, route.method)
      : declared;
    const part = entered && sentPart(entered.submission, info);
    const forPart = (name: FormPart): FormRequest =>
      part === name ? request : { ...request, entered: undefined };
    // A form that changes what it does not show would replace it by nothing.
    const isFilled = (name: FormPart): boolean =>
      part === name || request.object !== null || !changes(route);
    const attaching = info.attach && open.attach ? await this.attachForm(forPart('attach')) : null;
    const byField = isFilled('fields') ? await this.fieldForm(forPart('fields'), fields) : null;
    const raw =
      isFilled('raw') &&
      folded('Raw data', rawForm(forPart('raw'), declared), {
        open: part === 'raw' || (byField === null && attaching === null),
        kind: 'plain',
      });
    return folded(
      sectionTitle(route, info, { attaches: attaching !== null, makes: byField !== null }),
      html`${attaching}${byField}${raw}`,
      {
        id: `form-${key}`,
        open:
          entered !== undefined ||
          (!isBeside && asksForSomething(request)) ||
          (!changes(route) && Object.keys(context.presets).length > 0),
        kind: 'panel form',
      },
    );
  }

  /** An action beside an object: a button where nothing is asked, else a form that can be folded. */
  async action(request: FormRequest): Promise<Html> {
    const { route, info, open, context } = request;
    if (formFields(info, open, route.method).length > 0) return this.section(request, true);
    return html`<form method="post" action="${context.path}" class="action">
      ${csrfInput(context.csrf)}
      <button class="button" title="${info.summary}">${actionTitle(route, info)}</button>
    </form>`;
  }

  private async fieldForm(request: FormRequest, fields: readonly Field[]): Promise<Html | null> {
    const { key, route, info, plan, context, entered } = request;
    if (plan?.asksFirst) return choiceLinks(plan.asksFirst, context);
    if (fields.length === 0) return plainAction(request);
    const asked: FormField[] = [];
    for (const field of fields) asked.push(await this.input(request, field));
    const preview = await previewOf(request, asked);
    const inputs = withErrors(asked, entered && !entered.errors ? preview?.errors : undefined);
    const layout = plan?.pages ?? (arranges(info) ? info.resource?.pages : undefined);
    const chosen = plan?.choice && chosenView(plan.choice, valueFor(request, plan.choice), request);
    return html`${info.attach && html`<h2>${actionTitle(route, info)}</h2>`}
      <form
        method="post"
        action="${request.context.path}"
        class="grid"
        data-look="${entered ? 'again' : 'new'}"
      >
        ${csrfInput(context.csrf)}${methodInput(route.method)}${returnInput(entered?.submission)}
        ${chosen}
        ${topErrors(
          entered?.errors,
          fields.map(({ name }) => name),
        )}
        ${formParts(inputs, layout)} ${preview && previewView(key, preview)}
        ${inputs.filter(({ secret }) => secret).map(secretInput)}
        <div class="actions span"><button class="primary">${actionTitle(route, info)}</button></div>
      </form>`;
  }

  private async input(request: FormRequest, field: Field): Promise<FormField> {
    const { key, info, entered, actor } = request;
    const given = valueFor(request, field);
    const choices =
      field.target &&
      (await this.references.load(field.target(), field.needs ?? 'read', given, actor));
    const value = given ?? (field.required && !entered ? onlyOf(choices) : undefined);
    // For a text the error names the line.
    const fault = entered && field.kind === 'variables' ? await faultIn(given) : null;
    return {
      field,
      id: `${key}-${field.name}`,
      value,
      errors: fault === null ? errorsAt(entered?.errors, field.name) : [fault],
      secret: isSecret(field, info.resource),
      ...(choices ? { choices } : {}),
    };
  }

  /** Takes an existing object onto the list. */
  private async attachForm({ info, open, context, actor, entered }: FormRequest): Promise<Html> {
    const target = existing(info.resource, 'a list that takes objects tells which');
    const { candidates: among } = open;
    const choices = await this.references.load(target, 'read', [], actor, among?.scope);
    const input: FormField = {
      field: { ...ATTACH_FIELD, label: target.label, target: () => target },
      id: 'attach-id',
      value: entered?.submission.values.id ?? '',
      // It has no other field that something could be wrong with.
      errors: Object.values(entered?.errors ?? {}).flatMap(messagesOf),
      choices,
      ...(among ? { list: among.list } : {}),
      secret: false,
    };
    return html`<h2>Add an existing ${target.label.toLowerCase()}</h2>
      <form method="post" action="${context.path}" class="inline">
        ${csrfInput(context.csrf)} ${returnInput(entered?.submission)} ${formField(input)}
        <button class="primary">Add</button> ${backLink(entered?.submission)}
      </form>`;
  }
}

/** An action that asks nothing; null for anything else. */
const plainAction = ({ route, info, context, entered }: FormRequest): Html | null =>
  route.method === 'POST' && info.kind === 'action'
    ? html`<form method="post" action="${context.path}">
        ${csrfInput(context.csrf)}
        <p>${info.summary}</p>
        ${topErrors(entered?.errors, [])}
        <button class="primary">${actionTitle(route, info)}</button>
      </form>`
    : null;

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

/** A form that makes or changes an object is arranged as the object is shown; an action asks little. */
const arranges = ({ kind }: RouteInfo): boolean => kind !== 'action';

/** An action that has to be told something, such as a launch: its form is why people come. */
export const asksForSomething = ({ info, open }: Pick<FormRequest, 'info' | 'open'>): boolean =>
  info.kind === 'action' && (open.fields ?? info.body ?? []).length > 0;

/** Returns true when the form is filled from the object that it changes. */
export const changes = ({ method }: TableRoute): boolean => method === 'PUT' || method === 'PATCH';

/** Fields a person can fill in: writable, and not given by the URL. */
const formFields = (info: RouteInfo, open: OpenParts, method: string): readonly Field[] =>
  (open.fields ?? info.body ?? []).filter(
    (field) => isWritable(field) && !field.hidden && !(field.immutable && method !== 'POST'),
  );

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

/** Returns the label of heading and button: "Create team", "Rotate webhook key". */
export function actionTitle({ method, pattern }: TableRoute, info: RouteInfo): string {
  const label = info.resource?.label.toLowerCase() ?? '';
  if (info.kind === 'create') return `Create ${label}`;
  if (info.kind === 'associate') return `Add ${label}`;
  if (method === 'PUT' || method === 'PATCH') return label ? `Change ${label}` : 'Change';
  const segments = pattern.split('/').filter((part) => part !== '' && !part.startsWith(':'));
  const last = segments.at(-1) ?? '';
  const stem = `${segments.slice(2).join('_')}_`;
  const verb = info.operationId.startsWith(stem) ? info.operationId.slice(stem.length) : '';
  if (verb !== '') return wordFor(`${verb}_${last}`);
  // Below a part of an object: `webhook_filters/test` tests the filters.
  return wordFor([last, ...segments.slice(3, -1)].join('_'));
}

function valueFor({ object, entered, context }: FormRequest, field: Field): unknown {
  const values = entered?.submission.values ?? {};
  const filled = field.rows && rowsIn(values, { field, rows: field.rows });
  if (filled) return filled;
  if (field.name in values) return values[field.name];
  if (object && field.name in object) return object[field.name];
  const { presets } = context;
  if (!object && field.name in presets) return presets[field.name];
  // A refused form has all values; a form that waited for a login lacks its secrets.
  return entered?.errors ? undefined : field.default;
}

const faultIn = (given: unknown): Promise<string | null> =>
  variablesFault(String([given].flat().at(-1) ?? ''));

/** Secrets, and texts that the activity stream hides, such as the password of a user. */
const isSecret = (field: Field, definition: ResourceDefinition | undefined): boolean =>
  field.kind === 'secret' ||
  (['text', 'string'].includes(field.kind) &&
    (definition?.auditHidden.includes(field.name) ?? false));

class AttachSchema {
  @Reference('user', { required: true })
  id!: Reference;
}

/** The field of the form that adds an existing object; each list puts its own target in. */
const ATTACH_FIELD = itemAt(fieldsOf(AttachSchema), 0);

/** Which of the forms of a section was sent. */
function sentPart({ raw, values }: Submission, info: RouteInfo): FormPart {
  if (raw !== null) return 'raw';
  return info.attach && values.id !== undefined ? 'attach' : 'fields';
}

/** Tells what of the form is not to be kept where its session has ended. */
const secretInput = ({ field }: FormField): Html =>
  html`<input type="hidden" name="${SECRET_FIELD}" value="${field.name}" />`;

/** A form that is shown again still leads to where it was to lead. */
const returnInput = (submission: Submission | undefined): HtmlValue =>
  submission?.returnTo !== undefined &&
  html`<input type="hidden" name="${RETURN_FIELD}" value="${submission.returnTo}" />`;

/** A form that came from another page leads back there, whatever becomes of it. */
const backLink = (submission: Submission | undefined): HtmlValue =>
  submission?.returnTo !== undefined &&
  html`<a class="button" href="${submission.returnTo}">Back</a>`;

const methodInput = (method: string): HtmlValue =>
  method !== 'POST' && html`<input type="hidden" name="_method" value="${method}" />`;

import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { fieldsOf, Reference, type Choice, type Field } from '../../common/fields/field.js';
import { variablesFault } from '../../common/fields/variables.js';
import type { FieldErrors } from '../../common/errors/errors.js';
import type { TableRoute } from '../../common/rest/route-table.service.js';
import type { OpenParts, RouteInfo } from '../../common/rest/route.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import {
  METHOD_FIELD,
  RETURN_FIELD,
  SECRET_FIELD,
  SHOWN_FIELD,
  type Submission,
} from './browser-form.js';
import { choiceLinks, chosenView } from './form-choice.js';
import { errorsAt, messagesOf, topErrors } from './form-errors.js';
import { formField, type FormField } from './form-fields.js';
import { rowsIn } from './form-rows.js';
import { previewOf, previewView, withErrors } from './form-preview.js';
import { formParts } from './form-sections.js';
import { hiddenInput, html, type Html, type HtmlValue } from './html.js';
import { csrfInput, folded } from './layout.js';
import type { PageContext } from './page-context.js';
import type { FormPlan } from './page-forms.service.js';
import { OptionsService } from '../../common/rest/options.service.js';
import { onlyId, ReferenceLists } from '../../common/rest/reference-lists.service.js';
import { rawForm } from './raw-form.js';
import { digestsOf, shownValues } from './shown-values.js';
import { membersWithoutField, uneditedBody } from './unedited-form.js';
import type { Item } from './value-views.js';
import { labelFor } from './labels.js';
import { existing, itemAt } from '../../common/invariants.js';
import { isWritable } from '../../common/fields/reads.decorator.js';

/** The parts of the page context that forms use. */
type FormContext = Pick<PageContext, 'csrf' | 'path' | 'initialValues' | 'query'>;

/** Parameters for rendering a form. */
export interface FormRequest {
  /** Prefix of the element ids, unique on the page. */
  key: string;
  route: TableRoute;
  info: RouteInfo;
  /** Fields that the caller may send; the form omits the others. */
  open: OpenParts;
  /** Form that replaces the fields of the route. */
  plan: FormPlan | null;
  context: FormContext;
  actor: Actor;
  /** The object of the page; its values fill a form that changes the object. */
  object: Item | null;
  /** Values and errors of a form that is shown again. */
  entered?: FormInput | undefined;
  /** Path to redirect to after success; default: the page of the object. */
  returnTo?: string;
}

/** Entered values, and errors by form field. */
export interface FormInput {
  submission: Submission;
  errors?: FieldErrors;
}

type FormPart = 'attach' | 'fields' | 'raw';

/**
 * Position of a form. `page`: its own page; `inline`: on the page with the form's URL; `folded` or
 * `open`: on another page, collapsed or expanded.
 */
type FormPosition = 'page' | 'inline' | 'folded' | 'open';

/** Renders the form of a route from the declaration that validates its requests. */
@Injectable()
export class Forms {
  constructor(
    private readonly references: ReferenceLists,
    private readonly options: OptionsService,
  ) {}

  /**
   * Renders the field form and the raw form of a route: as a card if the form has its own page,
   * otherwise in a collapsible section.
   */
  async section(request: FormRequest, position: FormPosition): Promise<Html> {
    const { key, route, info, open, plan, entered } = request;
    const declared = open.body ? formFields(info, open, route.method) : [];
    const fields = plan
      ? formFields(info, { ...open, fields: plan.fields }, route.method)
      : declared;
    const sent = entered && sentPart(entered.submission, info);
    const forPart = (name: FormPart): FormRequest =>
      sent === name ? request : { ...request, entered: undefined };
    // An update form without the current values would overwrite them with empty values.
    const isFilled = (name: FormPart): boolean =>
      sent === name || request.object !== null || !isUpdate(route);
    const attachForm = info.attach && open.attach ? await this.attachForm(forPart('attach')) : null;
    const fieldForm = isFilled('fields') ? await this.fieldForm(forPart('fields'), fields) : null;
    const raw =
      request.returnTo === undefined &&
      isFilled('raw') &&
      folded('Raw data', rawForm(forPart('raw'), declared), {
        open: sent === 'raw' || (fieldForm === null && attachForm === null),
        kind: 'plain',
      });
    const content = html`${attachForm}${fieldForm}${raw}`;
    const id = `form-${key}`;
    if (position === 'page')
      return html`<section class="card form" id="${id}">${content}</section>`;
    const isOpen =
      position === 'open' || entered !== undefined || (position === 'inline' && hasFields(request));
    return folded(actionTitle(route, info), content, { id, open: isOpen, kind: 'panel form' });
  }

  /**
   * Renders an action on an object: a button, or a collapsible form if the action has fields.
   */
  async action(request: FormRequest): Promise<Html> {
    const { route, info, open, context } = request;
    if (formFields(info, open, route.method).length > 0) return this.section(request, 'folded');
    return html`<form method="post" action="${context.path}" class="action">
      ${csrfInput(context.csrf)}
      <button class="button" title="${info.summary}">${actionTitle(route, info)}</button>
    </form>`;
  }

  private async fieldForm(request: FormRequest, fields: readonly Field[]): Promise<Html | null> {
    const { key, route, info, plan, context, entered } = request;
    if (plan?.openChoice) return choiceLinks(plan.openChoice, context);
    if (fields.length === 0) return plainAction(request);
    const rendered: FormField[] = [];
    for (const field of fields) rendered.push(await this.input(request, await this.resolve(field)));
    const preview = await previewOf(request, rendered);
    const inputs = withErrors(rendered, entered && !entered.errors ? preview?.errors : undefined);
    const layout = plan?.form.pages ?? (info.kind === 'action' ? undefined : info.resource?.pages);
    const chosen = plan?.choice && chosenView(plan.choice, valueFor(request, plan.choice), request);
    return html`${info.attach && html`<h2>${actionTitle(route, info)}</h2>`}
      <form
        method="post"
        action="${request.context.path}"
        class="grid"
        data-look="${entered ? 'again' : 'new'}"
      >
        ${csrfInput(context.csrf)}${methodInput(route.method)} ${returnInput(request)} ${chosen}
        ${topErrors(
          entered?.errors,
          fields.map(({ name }) => name),
        )}
        ${formParts(inputs, layout)} ${preview && previewView(key, preview)}
        ${inputs.filter(({ secret }) => secret).map(secretInput)}
        ${Object.entries(hiddenDocuments(request, rendered)).map(([name, json]) => hiddenInput(name, json))}
        ${shownEntries(request, rendered)}
        <div class="actions span">
          <button class="primary">${isUpdate(route) ? 'Save' : actionTitle(route, info)}</button>
        </div>
      </form>`;
  }

  /** Returns a field with the choices that depend on settings, such as the permitted modules. */
  private async resolve(field: Field): Promise<Field> {
    const { choices, default: fromSettings } = await this.options.describeFromSettings(field);
    if (!Array.isArray(choices)) return field;
    return {
      ...field,
      choices: choices.map(([value, label]): Choice => [String(value), String(label)]),
      default: fromSettings ?? field.default,
    };
  }

  private async input(request: FormRequest, field: Field): Promise<FormField> {
    const { key, info, entered, actor } = request;
    const initial = valueFor(request, field);
    const choices =
      field.target &&
      (await this.references.load(field.target(), field.needs ?? 'read', initial, actor));
    const isPreselected = field.required || request.plan?.form.preselects?.includes(field.name);
    const isNew = !entered && (field.required || request.object === null);
    const value = initial ?? (isPreselected && isNew ? onlyId(choices) : undefined);
    // Errors in variables include the line number.
    const error = entered && field.kind === 'variables' ? await variablesError(initial) : null;
    return {
      field,
      id: `${key}-${field.name}`,
      value,
      errors: error === null ? errorsAt(entered?.errors, field.name) : [error],
      secret: isSecret(field, info.resource),
      ...(choices ? { choices } : {}),
      ...dependenciesOf(request.plan, field.name),
    };
  }

  /** Renders the form that adds an existing object to the list. */
  private async attachForm({ info, open, context, actor, entered }: FormRequest): Promise<Html> {
    const target = existing(info.resource, 'a list with an add form declares its resource');
    const { candidates } = open;
    const choices = await this.references.load(target, 'read', [], actor, candidates?.scope);
    const input: FormField = {
      field: { ...ATTACH_FIELD, label: target.label, target: () => target },
      id: 'attach-id',
      value: entered?.submission.values.id ?? '',
      // The form has only one field, so all errors belong to the field.
      errors: Object.values(entered?.errors ?? {}).flatMap(messagesOf),
      choices,
      ...(candidates ? { list: candidates.list } : {}),
      secret: false,
    };
    return html`<h2>Add an existing ${target.label.toLowerCase()}</h2>
      <form method="post" action="${context.path}" class="inline">
        ${csrfInput(context.csrf)} ${returnInput({ entered })} ${formField(input)}
        <button class="primary">Add</button> ${backLink(entered?.submission)}
      </form>`;
  }
}

/** Renders the button of an action without fields; returns null for other routes. */
const plainAction = ({ route, info, context, entered }: FormRequest): Html | null =>
  route.method === 'POST' && info.kind === 'action'
    ? html`<form method="post" action="${context.path}">
        ${csrfInput(context.csrf)}
        <p>${info.summary}</p>
        ${topErrors(entered?.errors, [])}
        <button class="primary">${actionTitle(route, info)}</button>
      </form>`
    : null;

/** Renders the form that deletes an object, as the page that asks for confirmation. */
export const deleteSection = (context: PageContext, info: RouteInfo, title: string): Html => {
  const verb = removalVerb(info);
  return html`<section class="card form" id="form-delete">
    <form method="post" action="${context.path}">
      ${csrfInput(context.csrf)}${methodInput('DELETE')}
      <p>${info.summary}</p>
      <p>${verb} <strong>${title}</strong>? This cannot be undone.</p>
      <div class="actions">
        <button class="danger">${verb} ${title}</button>
        <a class="button quiet" href="${context.path}">Cancel</a>
      </div>
    </form>
  </section>`;
};

/** Returns the verb of a route that deletes an object, or resets settings. */
export const removalVerb = ({ operationId }: RouteInfo): string =>
  operationId.endsWith('_reset') ? 'Reset' : 'Delete';

/** Returns true for an action with fields, such as a launch; its form is expanded. */
export const hasFields = ({ info, open }: Pick<FormRequest, 'info' | 'open'>): boolean =>
  info.kind === 'action' && (open.fields ?? info.body ?? []).length > 0;

/** Returns true if the form is filled from the object that it changes. */
export const isUpdate = ({ method }: TableRoute): boolean => method === 'PUT' || method === 'PATCH';

/**
 * Returns the writable fields of a form. Immutable fields are only in forms with the method POST.
 */
const formFields = (info: RouteInfo, open: OpenParts, method: string): readonly Field[] =>
  (open.fields ?? info.body ?? []).filter(
    (field) =>
      isWritable(field) &&
      !field.hidden &&
      field.control !== 'none' &&
      !(field.immutable && method !== 'POST'),
  );

/** Returns a title such as "Create team" or "Add user", or "Add or create team" for both. */
export function formTitle(route: TableRoute, info: RouteInfo, open: OpenParts): string {
  const label = info.resource?.label.toLowerCase() ?? 'object';
  if (route.method === 'DELETE') return `${removalVerb(info)} ${label}`;
  const title = actionTitle(route, info);
  if (!(info.attach && open.attach)) return title;
  return open.body ? `Add or ${title.toLowerCase()}` : `Add ${label}`;
}

/** Returns the label of heading and button, such as "Create team" or "Rotate webhook key". */
export function actionTitle({ method, pattern }: TableRoute, info: RouteInfo): string {
  const label = info.resource?.label.toLowerCase() ?? '';
  if (info.kind === 'create') return `Create ${label}`;
  if (info.kind === 'associate') return `Add ${label}`;
  if (method === 'PUT' || method === 'PATCH') return label ? `Edit ${label}` : 'Edit';
  const segments = pattern.split('/').filter((part) => part !== '' && !part.startsWith(':'));
  const last = segments.at(-1) ?? '';
  const stem = `${segments.slice(2).join('_')}_`;
  const verb = info.operationId.startsWith(stem) ? info.operationId.slice(stem.length) : '';
  if (verb !== '') return labelFor(`${verb}_${last}`);
  // A path with several segments below an object: `webhook_filters/test` becomes "Test webhook filters".
  return labelFor([last, ...segments.slice(3, -1)].join('_'));
}

function valueFor({ object, entered, context }: FormRequest, field: Field): unknown {
  const values = entered?.submission.values ?? {};
  const filled = field.rows && rowsIn(values, { field, rows: field.rows });
  if (filled) return filled;
  if (field.name in values) return values[field.name];
  if (object && field.name in object) return object[field.name];
  const { initialValues } = context;
  if (!object && field.name in initialValues) return initialValues[field.name];
  // A rejected form contains all values; a form restored after a login lacks its secrets.
  return entered?.errors ? undefined : field.default;
}

const variablesError = (value: unknown): Promise<string | null> =>
  variablesFault(String([value].flat().at(-1) ?? ''));

/** Returns true for secrets, and for texts that the activity stream hides, such as passwords. */
const isSecret = (field: Field, definition: ResourceDefinition | undefined): boolean =>
  field.kind === 'secret' ||
  (['text', 'string'].includes(field.kind) &&
    (definition?.auditHidden.includes(field.name) ?? false));

class AttachSchema {
  @Reference('user', { required: true })
  id!: Reference;
}

/** Field of the form that adds an existing object; each list sets its own target. */
const ATTACH_FIELD = itemAt(fieldsOf(AttachSchema), 0);

/** Returns the part of the section that was submitted. */
function sentPart({ raw, values }: Submission, info: RouteInfo): FormPart {
  if (raw !== null) return 'raw';
  return info.attach && values.id !== undefined ? 'attach' : 'fields';
}

/** Renders a hidden input that names a secret field, whose value is not kept during a login. */
const secretInput = ({ field }: FormField): Html => hiddenInput(SECRET_FIELD, field.name);

/** Returns the field that determines the choices of a field, and true for a field with dependents. */
const dependenciesOf = (
  plan: FormPlan | null,
  name: string,
): Pick<FormField, 'dependsOn' | 'hasDependents'> => {
  const dependencies = plan?.form.dependencies ?? {};
  const dependsOn = dependencies[name];
  const hasDependents = Object.values(dependencies).includes(name);
  return { ...(dependsOn === undefined ? {} : { dependsOn }), hasDependents };
};

/**
 * Renders the values and the entries of lists that the form shows, so that saving changes and removes
 * no others.
 */
const shownEntries = (request: FormRequest, inputs: readonly FormField[]): HtmlValue => {
  const { route, info, open, plan, object, entered } = request;
  if (entered?.submission.shown) {
    return entered.submission.shown.map((entry) => hiddenInput(SHOWN_FIELD, entry));
  }
  const current = Object.keys(plan?.lists ?? {}).flatMap((field) =>
    [object?.[field] ?? []].flat().map((id) => `${field}.${String(id)}`),
  );
  const values =
    object && route.method === 'PATCH' ? shownValues(object, open.fields ?? info.body ?? []) : [];
  const unedited =
    object && route.method === 'PATCH' && plan
      ? digestsOf(
          uneditedBody(plan, inputs, {
            ...hiddenDocuments(request, inputs),
            ...(plan.choice && { [plan.choice.name]: object[plan.choice.name] }),
          }),
        )
      : [];
  return [...new Set([...current, ...values, ...unedited])].map((entry) =>
    hiddenInput(SHOWN_FIELD, entry),
  );
};

const hiddenDocuments = (
  { object, entered }: FormRequest,
  inputs: readonly FormField[],
): Record<string, string> =>
  membersWithoutField({ ...object, ...entered?.submission.values }, inputs);

/** Renders the return path as a hidden input, to keep it in a form that is shown again. */
const returnInput = ({
  entered,
  returnTo = entered?.submission.returnTo,
}: Pick<FormRequest, 'entered' | 'returnTo'>): HtmlValue =>
  returnTo !== undefined && hiddenInput(RETURN_FIELD, returnTo);

/** Renders a link to the page that the form came from. */
const backLink = (submission: Submission | undefined): HtmlValue =>
  submission?.returnTo !== undefined &&
  html`<a class="button" href="${submission.returnTo}">Back</a>`;

const methodInput = (method: string): HtmlValue =>
  method !== 'POST' && hiddenInput(METHOD_FIELD, method);

import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Actor } from '../../common/access.js';
import type { FieldErrors } from '../../common/errors/errors.js';
import type { Choice, Field } from '../../common/fields/field.js';
import { BrokenInvariant } from '../../common/invariants.js';
import { memberOf } from '../../common/records.js';
import type { OpenParts } from '../../common/rest/route.js';
import type { TableRoute } from '../../common/rest/route-table.service.js';
import type { PageLayout } from '../../common/resource/page-layout.js';
import type { Html } from './html.js';
import type { Item } from './value-views.js';

type Values = Readonly<Record<string, unknown>>;

/** A list below the object of a form, whose entries a field of the form selects. */
export interface FormList {
  /** Name of the relation, and last part of the list's URL. */
  list: string;
  /** True if the field contains names, separated by commas, of objects to create in the list. */
  creates?: true;
}

/**
 * A form whose fields differ from the fields of the resource or action. `toBody` converts its
 * values to the request body of the API.
 */
export interface PageForm {
  /** Field that determines the other fields; the form asks for its value first. */
  readonly choice?: string;
  /** Values of `choice` that the form omits, because other forms create objects with these values. */
  readonly omittedChoices?: readonly string[];
  /** Returns the values of a `choice` that refers to objects; all callers may choose them. */
  choices?(): Promise<readonly Choice[]>;
  /** Lists below the object that the form saves with the object, by field. */
  readonly lists?: Readonly<Record<string, FormList>>;
  /** Fields whose choices depend on the value of another field, by name. */
  readonly dependencies?: Readonly<Record<string, string>>;
  /** References to preselect if there is only one object to choose. */
  readonly preselects?: readonly string[];
  /** Layout of the form, if it differs from the layout of the object. */
  readonly pages?: PageLayout;
  /**
   * Returns the fields of the form; a name with a dot is a member of a document.
   *
   * @param fields fields that the caller may send
   */
  fields(fields: readonly Field[], state: FormState): readonly Field[] | Promise<readonly Field[]>;
  /** Returns the request body. @throws Invalid naming fields of the form */
  toBody?(filled: Record<string, unknown>): Record<string, unknown>;
  /** Returns initial values in addition to the members of the object. */
  fromObject?(object: Item): Values;
  /**
   * Maps errors of the body to fields of the form.
   *
   * @param filled values of the form
   */
  errorsIn?(errors: FieldErrors, filled: Values): FieldErrors;
  /**
   * Renders the result of the form without sending it. @throws Invalid naming fields of the form
   */
  preview?(filled: Record<string, unknown>): Promise<Html> | Html;
}

/** State of a form, which determines its fields. */
export interface FormState {
  /** Value of `choice`. */
  chosen: unknown;
  /** Current values, from the object, the link to the page or the submitted form. */
  known: Values;
  /** The caller; options contain only objects that the caller may read. */
  actor: Actor;
}

/** The form of a route for one request. */
export interface FormPlan {
  form: PageForm;
  fields: readonly Field[];
  /** Field whose value the user must choose first; null if no choice is open. */
  openChoice: Field | null;
  /** Field whose value is chosen and fixed on this page; null without such a field. */
  choice: Field | null;
  toBody(filled: Record<string, unknown>): Record<string, unknown>;
  /** The lists of the form whose fields are on the page. */
  lists: Readonly<Record<string, FormList>>;
}

const isForm = (value: unknown): value is PageForm =>
  typeof memberOf(value, 'fields') === 'function';

const FormOf = DiscoveryService.createDecorator<string[]>();

/** Declares a provider as the form of a resource type, or of an action by its operation id. */
export const PageFormOf = (...keys: string[]): ClassDecorator => FormOf(keys);

const WRITES: ReadonlySet<string | undefined> = new Set(['create', 'modify', 'replace']);

/** Registry of the page forms of all features. */
@Injectable()
export class PageForms {
  private byKey: Map<string, PageForm> | undefined;

  constructor(private readonly discovery: DiscoveryService) {}

  /**
   * Returns the form of a route.
   *
   * @param known current values, from the object, the link to the page or the submitted form
   * @param actor the caller
   * @returns null if the form has the fields of the route, or if the caller may send no body
   */
  async plan(
    { info }: TableRoute,
    open: OpenParts,
    known: Values,
    actor: Actor,
  ): Promise<FormPlan | null> {
    if (!info || !open.body) return null;
    this.byKey ??= this.find();
    const ofType = WRITES.has(info.kind) ? this.byKey.get(info.resource?.type ?? '') : undefined;
    const form = this.byKey.get(info.operationId) ?? ofType;
    if (!form) return null;
    const declared = open.fields ?? info.body ?? [];
    const choice = await choiceOf(form, declared);
    const chosen = choice && [known[choice.name]].flat().at(-1);
    const isUnchosen = choice !== null && (chosen === undefined || chosen === '');
    const fields = isUnchosen ? [choice] : await form.fields(declared, { chosen, known, actor });
    return {
      form,
      fields,
      openChoice: isUnchosen ? choice : null,
      choice: isUnchosen ? null : choice,
      toBody: (filled) => bodyOf(form, filled),
      lists: Object.fromEntries(
        Object.entries(form.lists ?? {}).filter(([name]) =>
          fields.some((field) => field.name === name),
        ),
      ),
    };
  }

  private find(): Map<string, PageForm> {
    const found = new Map<string, PageForm>();
    for (const provider of this.discovery.getProviders({ metadataKey: FormOf.KEY })) {
      const form: unknown = provider.instance;
      if (!isForm(form)) throw new BrokenInvariant(`${String(provider.name)} is a form`);
      const keys = this.discovery.getMetadataByDecorator(FormOf, provider) ?? [];
      for (const key of keys) found.set(key, form);
    }
    return found;
  }
}

/** Returns the request body, without the lists that are saved after the object. */
function bodyOf(form: PageForm, filled: Record<string, unknown>): Record<string, unknown> {
  const lists = form.lists ?? {};
  const fields = Object.entries(filled).filter(([name]) => !Object.hasOwn(lists, name));
  const body = Object.fromEntries(fields);
  return form.toBody?.(body) ?? body;
}

async function choiceOf(form: PageForm, fields: readonly Field[]): Promise<Field | null> {
  const { choice, omittedChoices = [] } = form;
  const field = fields.find(({ name }) => name === choice);
  if (!field) return null;
  const choices = (await form.choices?.()) ?? field.choices;
  return {
    ...field,
    choices: choices.filter(([value]) => !omittedChoices.includes(String(value))),
  };
}

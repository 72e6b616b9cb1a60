import { Injectable, SetMetadata } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import type { Actor } from '../../common/access.js';
import type { FieldErrors } from '../../common/errors/errors.js';
import type { Choice, Field } from '../../common/fields/field.js';
import { BrokenInvariant } from '../../common/invariants.js';
import { memberOf } from '../../common/records.js';
import type { OpenParts } from '../../common/rest/route.js';
import type { TableRoute } from '../../common/rest/route-table.service.js';
import type { PageLayout } from '../../common/resource/page-layout.js';
import { html, type Html } from './html.js';
import type { Item } from './values.js';

const FORM_OF = 'controller:page-form';

type Values = Readonly<Record<string, unknown>>;

/**
 * A form whose fields differ from those of the resource or action. `toBody` makes the request body of
 * other clients from its values.
 */
export interface PageForm {
  /** Field that decides which other fields the form has; the form asks for it first. */
  readonly choice?: string;
  /** Values of `choice` that are created elsewhere, which this form does not offer. */
  readonly madeElsewhere?: readonly string[];
  /** Values of `choice` where they are objects, which all callers may choose. */
  choices?(): Promise<readonly Choice[]>;
  /** How the form is arranged, where it is not as the object is shown. */
  readonly pages?: PageLayout;
  /**
   * The fields of the form; a name with a dot is a member of a document.
   *
   * @param fields those that the caller may send
   * @param chosen value of `choice`
   * @param known values that are filled in, of the object, or of the link to the page
   * @param actor the caller: a form offers objects that the caller may read
   */
  fields(
    fields: readonly Field[],
    chosen: unknown,
    known: Values,
    actor: Actor,
  ): readonly Field[] | Promise<readonly Field[]>;
  /** Makes the request body. @throws Invalid naming fields of the form */
  toBody?(filled: Record<string, unknown>): Record<string, unknown>;
  /** Returns initial values of a change besides the members of the object. */
  fromObject?(object: Item): Values;
  /**
   * Maps errors of the body to fields of the form.
   *
   * @param filled values of the form
   */
  errorsIn?(errors: FieldErrors, filled: Values): FieldErrors;
  /** Renders the result of the form without sending it. @throws Invalid naming fields of the form */
  preview?(filled: Record<string, unknown>): Promise<Html> | Html;
}

/** A form as one page has it. */
export interface FormPlan {
  fields: readonly Field[];
  /** The field to choose before the form can show others. */
  asksFirst: Field | null;
  /** The field that was chosen, which this page does not change. */
  choice: Field | null;
  toBody(filled: Record<string, unknown>): Record<string, unknown>;
  fromObject(object: Item): Values;
  errorsIn(errors: FieldErrors, filled: Values): FieldErrors;
  pages: PageLayout | undefined;
  /** Null: the form shows nothing before it is sent. */
  preview: ((filled: Record<string, unknown>) => Promise<Html>) | null;
}

const isForm = (value: unknown): value is PageForm =>
  typeof memberOf(value, 'fields') === 'function';

/** Makes a provider the form of the objects of a resource type, or of one action by its operation id. */
export const PageFormOf = (...keys: string[]): ClassDecorator => SetMetadata(FORM_OF, keys);

const MAKING: ReadonlySet<string> = new Set(['create', 'modify', 'replace']);

/** The forms that the features declare. */
@Injectable()
export class PageForms {
  private byKey: Map<string, PageForm> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
  ) {}

  /**
   * @param known values that are filled in, of the object, or of the link to the page
   * @param actor the caller
   * @returns null where the fields of the route are the form
   */
  async plan(
    { info }: TableRoute,
    open: OpenParts,
    known: Values,
    actor: Actor,
  ): Promise<FormPlan | null> {
    if (!info || !open.body) return null;
    this.byKey ??= this.find();
    const ofType = MAKING.has(info.kind) ? this.byKey.get(info.resource?.type ?? '') : undefined;
    const form = this.byKey.get(info.operationId) ?? ofType;
    if (!form) return null;
    const declared = open.fields ?? info.body ?? [];
    const choice = await choiceOf(form, declared);
    const chosen = choice && lastOf(known[choice.name]);
    const isOpen = choice !== null && (chosen === undefined || chosen === '');
    return {
      fields: isOpen ? [choice] : await form.fields(declared, chosen, known, actor),
      asksFirst: isOpen ? choice : null,
      choice: isOpen ? null : choice,
      toBody: (filled) => form.toBody?.(filled) ?? filled,
      fromObject: (object) => form.fromObject?.(object) ?? {},
      errorsIn: (errors, filled) => form.errorsIn?.(errors, filled) ?? errors,
      pages: form.pages,
      preview: previewBy(form),
    };
  }

  private find(): Map<string, PageForm> {
    const found = new Map<string, PageForm>();
    for (const { instance, metatype } of this.discovery.getProviders()) {
      if (!instance || !metatype) continue;
      for (const key of this.reflector.get<string[] | undefined>(FORM_OF, metatype) ?? []) {
        if (!isForm(instance)) throw new BrokenInvariant(`${metatype.name} is a form`);
        found.set(key, instance);
      }
    }
    return found;
  }
}

async function choiceOf(form: PageForm, fields: readonly Field[]): Promise<Field | null> {
  const { choice, madeElsewhere = [] } = form;
  const field = fields.find(({ name }) => name === choice);
  if (!field) return null;
  const choices = (await form.choices?.()) ?? field.choices;
  return {
    ...field,
    choices: choices.filter(([value]) => !madeElsewhere.includes(String(value))),
  };
}

const previewBy = (form: PageForm): FormPlan['preview'] =>
  form.preview ? async (filled) => form.preview?.(filled) ?? html`` : null;

/** Returns the last of several values of one form field. */
const lastOf = (value: unknown): unknown => (Array.isArray(value) ? value.at(-1) : value);

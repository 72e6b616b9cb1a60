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
 * What people fill in where that is not simply the fields of a resource. It is about forms alone: what
 * they send becomes the body that every other client sends.
 */
export interface PageForm {
  /** A field that decides what else is asked for; a form asks for it first. */
  readonly choice?: string;
  /** Its values that are made in another way than by this form. */
  readonly madeElsewhere?: readonly string[];
  /** Its values where they are objects: those that everybody may choose. */
  choices?(): Promise<readonly Choice[]>;
  /** How the form is arranged, where it is not as the object is shown. */
  readonly pages?: PageLayout;
  /**
   * The fields of the form; a name with a dot is a member of a document.
   *
   * @param fields those that the caller may send
   * @param chosen value of `choice`
   * @param known values that are known: filled in, of the object, or told by the link to the page
   * @param actor who fills it in: what a form offers is what they may see
   */
  fields(
    fields: readonly Field[],
    chosen: unknown,
    known: Values,
    actor: Actor,
  ): readonly Field[] | Promise<readonly Field[]>;
  /** The request body, of what was filled in. @throws Invalid naming fields of the form */
  toBody?(filled: Record<string, unknown>): Record<string, unknown>;
  /** What the form of a change is filled with besides the members of the object. */
  fromObject?(object: Item): Values;
  /**
   * What the API finds wrong with the body, by the fields of the form.
   *
   * @param filled what was filled in
   */
  errorsIn?(errors: FieldErrors, filled: Values): FieldErrors;
  /** What would come of the form as it is filled in. @throws Invalid naming fields of the form */
  preview?(filled: Record<string, unknown>): Promise<Html> | Html;
}

/** A form as one page has it. */
export interface FormPlan {
  fields: readonly Field[];
  /** What is to be chosen before anything else can be asked for. */
  asksFirst: Field | null;
  /** What was chosen: it stands fast on this page. */
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
   * @param known values that are known: filled in, of the object, or told by the link to the page
   * @param actor who fills it in
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

/** Of what a form sends twice the last counts. */
const lastOf = (value: unknown): unknown => (Array.isArray(value) ? value.at(-1) : value);

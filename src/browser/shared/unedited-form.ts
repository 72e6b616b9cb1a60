import { resultOr } from '../../common/errors/errors.js';
import { exactJson } from '../../common/exact-json.js';
import { isRecord } from '../../common/records.js';
import { submittedValue, type FormField } from './form-fields.js';
import { formBodyOf } from './form-values.js';
import type { FormPlan } from './page-forms.service.js';
import type { Item } from './value-views.js';

/**
 * Returns for each document that fields such as `inputs.username` edit its other members, as JSON. The form sends
 * this JSON, because saving replaces the whole document.
 *
 * @param values the object, and the values of the submitted form, which can contain this JSON
 */
export function membersWithoutField(
  values: Item,
  inputs: readonly FormField[],
): Record<string, string> {
  const names = new Set(inputs.map(({ field }) => field.name));
  const documents = new Set([...names].flatMap((name) => name.split('.').slice(0, -1)));
  return Object.fromEntries(
    [...documents].flatMap((document) => {
      const value = values[document];
      if (names.has(document)) return [];
      if (typeof value === 'string') return [[document, value]];
      if (!isRecord(value)) return [];
      const others = Object.entries(value).filter(([key]) => !names.has(`${document}.${key}`));
      return others.length > 0 ? [[document, exactJson(Object.fromEntries(others))]] : [];
    }),
  );
}

/**
 * Returns the body that the form sends if the user changes nothing. The body can differ from the object if the form
 * splits a value, such as the rule of a schedule: the parts can have another order, or contain defaults.
 *
 * @param others values of the form that have no input
 */
export function uneditedBody(
  plan: FormPlan,
  inputs: readonly FormField[],
  others: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entries = inputs.map((input) => [input.field.name, submittedValue(input)] as const);
  const values = { ...others, ...Object.fromEntries(entries) };
  const form = { values, raw: null, secrets: [] };
  return resultOr(() => plan.toBody(formBodyOf(form, plan.fields)), {});
}

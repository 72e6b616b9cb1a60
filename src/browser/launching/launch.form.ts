import { Injectable } from '@nestjs/common';
import type { FieldErrors } from '../../common/errors/errors.js';
import type { Field } from '../../common/fields/field.js';
import { messagesOf } from '../shared/form-errors.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';

const ANSWERS = 'variables_needed_to_start';
const PASSWORDS = 'passwords_needed_to_start';
/** Errors of survey answers name their variable (docs/contract/launching.md#answers). */
const VARIABLE = /^'([^']+)' value\b|^Value .* for '([^']+)' expected /s;

/** Form that maps errors of survey answers to their questions, and of passwords to their fields. */
@Injectable()
@PageFormOf('job_template_launch', 'workflow_job_template_launch')
export class LaunchForm implements PageForm {
  fields(fields: readonly Field[]): readonly Field[] {
    return fields;
  }

  errorsIn(
    { [ANSWERS]: faults, [PASSWORDS]: passwords, ...errors }: FieldErrors,
    filled: Readonly<Record<string, unknown>>,
  ): FieldErrors {
    const rest: string[] = [];
    const byField: Record<string, string[]> = {};
    for (const text of messagesOf(faults)) {
      const [, first, second = ''] = VARIABLE.exec(text) ?? [];
      const name = `extra_vars.${first ?? second}`;
      if (name in filled) byField[name] = [...(byField[name] ?? []), text];
      else rest.push(text);
    }
    for (const name of messagesOf(passwords)) {
      byField[`credential_passwords.${name}`] = ['The launch needs this password.'];
    }
    return { ...errors, ...byField, ...(rest.length > 0 ? { [ANSWERS]: rest } : {}) };
  }
}

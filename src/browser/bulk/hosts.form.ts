import { Injectable } from '@nestjs/common';
import { partsOf } from '../../common/fields/text.js';
import { Invalid, type FieldErrors } from '../../common/errors/errors.js';
import { Char, declareFields, Json, Text, type Field } from '../../common/fields/field.js';
import { messagesOf } from '../shared/form-errors.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';
import { isRecord } from '../../common/records.js';
import { readHostLines } from './host-lines.js';

/** Names of the form fields that replace the list of JSON objects. */
export const FIELD_NAMES = {
  lines: 'lines',
  /** Names of existing hosts of the inventory. */
  members: 'members',
  groups: 'groups',
} as const;

export const LINES_HELP = 'One host per line, with optional variables: web1 ansible_host=10.0.0.5';
export const GROUPS_HELP = 'Names, separated by commas. Groups that do not exist are created.';

/** Form that takes new hosts as lines, and groups that new and existing hosts join. */
@Injectable()
@PageFormOf('bulk_host_create')
export class HostsForm implements PageForm {
  fields(fields: readonly Field[], { known }: FormState): readonly Field[] {
    const members = namesIn(known[FIELD_NAMES.members]);
    return fields.flatMap((field) => (field.name === 'hosts' ? hostFields(members) : [field]));
  }

  /** @throws Invalid for parts of a line that are not variables */
  toBody({
    lines: text,
    members: memberNames,
    groups: groupText,
    ...filled
  }: Record<string, unknown>): Record<string, unknown> {
    const { hosts, faults } = readHostLines(String(text ?? ''));
    if (faults.length > 0) {
      throw new Invalid({ lines: faults.map((fault) => `Line ${fault.line}: ${fault.text}`) });
    }
    const members = namesIn(memberNames).map((name) => ({ name }));
    const groups = partsOf(String(groupText ?? ''), ',');
    return {
      ...filled,
      // The API adds existing hosts to the groups and keeps their other fields.
      ...(members.length > 0 ? { on_conflict: 'update' } : {}),
      hosts: [...hosts, ...members].map((host) => (groups.length > 0 ? { ...host, groups } : host)),
    };
  }

  /** Maps errors of hosts to the line numbers of the text area. */
  errorsIn(
    { hosts: faults, ...errors }: FieldErrors,
    { lines: text }: Readonly<Record<string, unknown>>,
  ): FieldErrors {
    if (faults === undefined) return errors;
    const { lines } = readHostLines(String([text].flat().at(-1) ?? ''));
    const texts = isRecord(faults)
      ? Object.entries(faults).flatMap(([index, fault]) => {
          // Entries after the lines are existing hosts, which have no line number.
          const line = lines[Number(index)];
          const prefix = line === undefined ? '' : `Line ${line}: `;
          return messagesOf(fault).map((message) => `${prefix}${message}`);
        })
      : messagesOf(faults);
    return { ...errors, lines: texts };
  }
}

const namesIn = (value: unknown): string[] =>
  [value ?? []].flat().flatMap((name) => (typeof name === 'string' && name !== '' ? [name] : []));

const hostFields = (members: readonly string[]): readonly Field[] =>
  declareFields({
    [FIELD_NAMES.lines]: Text({ label: 'Hosts', help: LINES_HELP }),
    ...(members.length > 0 && {
      [FIELD_NAMES.members]: Json({
        label: 'Hosts of the inventory',
        choices: members.map((name) => [name, name] as const),
      }),
    }),
    [FIELD_NAMES.groups]: Char({ max: null, help: GROUPS_HELP }),
  });

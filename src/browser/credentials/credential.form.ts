import { Injectable } from '@nestjs/common';
import {
  Bool,
  Char,
  Choices,
  declareFields,
  SecretText,
  Text,
  type Choice,
  type Field,
} from '../../common/fields/field.js';
import { documentValues } from '../shared/form-values.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';
import type { Item } from '../shared/value-views.js';
import {
  tokenTypeNamespace,
  WEBHOOK_SERVICE_NAMES,
  webhookService,
} from '../../code-hosts/services.js';
import { isRecord } from '../../common/records.js';
import { CredentialTypesRepository } from '../../credentials/credential-types.repository.js';
import {
  ASK,
  type CredentialTypeDefinition,
  type InputField,
} from '../../credentials/types/definition.js';

const DOCUMENT = 'inputs';
/** Names of code hosts by the namespace of the type of their tokens. The name of the type has a neutral one. */
const CODE_HOSTS: ReadonlyMap<unknown, string> = new Map(
  WEBHOOK_SERVICE_NAMES.map((name) => [tokenTypeNamespace(name), webhookService(name).label]),
);

/** Form that asks for the credential type, then for the inputs of the type instead of JSON. */
@Injectable()
@PageFormOf('credential')
export class CredentialForm implements PageForm {
  readonly choice = 'credential_type';

  constructor(private readonly types: CredentialTypesRepository) {}

  async choices(): Promise<readonly Choice[]> {
    return (await this.types.all()).map(({ id, name, namespace }): Choice => {
      const host = CODE_HOSTS.get(namespace);
      return [id, host === undefined ? name : `${name} (${host})`];
    });
  }

  async fields(fields: readonly Field[], { chosen }: FormState): Promise<readonly Field[]> {
    const type = (await this.types.all()).find(({ id }) => String(id) === String(chosen));
    if (!type) return fields;
    return fields.flatMap((field) => {
      if (field.name === this.choice) return [];
      return field.name === DOCUMENT ? inputFields(type) : [field];
    });
  }

  /** Replaces all inputs: an empty field removes its input. */
  toBody(filled: Record<string, unknown>): Record<string, unknown> {
    const { [this.choice]: type, [DOCUMENT]: inputs } = filled;
    return {
      ...filled,
      ...(type === undefined ? {} : { [this.choice]: Number(type) }),
      [DOCUMENT]: isRecord(inputs) ? inputs : {},
    };
  }

  fromObject({ [DOCUMENT]: inputs }: Item): Record<string, unknown> {
    return documentValues(DOCUMENT, inputs);
  }
}

const inputFields = ({ inputs }: CredentialTypeDefinition): readonly Field[] =>
  declareFields(
    Object.fromEntries(
      (inputs.fields ?? []).map((field) => [
        `${DOCUMENT}.${field.id}`,
        controlOf(field, inputs.required?.includes(field.id) === true),
      ]),
    ),
  );

function controlOf(field: InputField, required: boolean): PropertyDecorator {
  const { label, type, choices, secret, multiline, default: defaultValue } = field;
  const options = {
    label,
    required,
    help: helpOf(field),
    // An empty field omits the input.
    ...(type === 'boolean' ? {} : { nullable: true }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
  };
  if (type === 'boolean') return Bool(options);
  if (secret === true) return SecretText(multiline ? { ...options, control: 'lines' } : options);
  if (choices) {
    return Choices(
      choices.map((choice) => [choice, choice]),
      options,
    );
  }
  return multiline === true ? Text(options) : Char(options);
}

const helpOf = ({ help_text: help = '', ask_at_runtime: isPrompted }: InputField): string =>
  isPrompted === true ? `${help} Enter ${ASK} to ask for it at each launch.`.trimStart() : help;

/**
 * Runs in its own environment, so that other files do not see the resources declared here.
 *
 * @jest-environment node
 */
import { Entity } from 'typeorm';
import {
  Bool,
  Char,
  fieldsOf,
  Integer,
  Json,
  References,
  Text,
} from '../../common/fields/field.js';
import { BadRequest, Invalid } from '../../common/errors/errors.js';
import { TRUE } from '../../database/sql.js';
import { defineResource } from '../../common/resource/define-resource.js';
import { formBodyOf } from './form-values.js';

const anybody = () => TRUE;

@Entity('spec_teams')
class TeamSchema {
  @Integer({ readOnly: true })
  id!: number;
}
defineResource({
  path: 'spec_teams',
  type: 'spec_team',
  entity: TeamSchema,
  policy: { read: anybody, add: () => () => TRUE, change: anybody, delete: anybody },
});

class Schema {
  @Char({ required: true })
  name!: string;
  @Text()
  description!: string;
  @Bool()
  enabled!: boolean;
  @Integer({ nullable: true })
  limit!: number | null;
  @Integer({ default: 1 })
  forks!: number;
  @Json({ default: [] })
  tags!: unknown[];
  @References('spec_team')
  teams!: number[];
  @References('spec_team', { nullable: true })
  others!: number[] | null;
}

class Answers {
  @Integer()
  count!: number;
  @Text()
  text!: string;
  @Integer({ nullable: true })
  empty!: number | null;
  @Json({ default: [], choices: [['8', '8']] })
  some!: string[];
}

const fields = fieldsOf(Schema);
const form = (values: Record<string, unknown>) =>
  formBodyOf({ values, raw: null, secrets: [] }, fields);
const raw = (text: string) => formBodyOf({ values: {}, raw: text, secrets: [] }, fields);

describe('bodyOf', () => {
  it('removes the token of the form', () => {
    expect(form({ csrfmiddlewaretoken: 'x', name: 'a' })).toEqual({ name: 'a' });
  });

  it('reads a checkbox after its hidden false', () => {
    expect(form({ enabled: ['false', 'true'] })).toEqual({ enabled: 'true' });
    expect(form({ enabled: 'false' })).toEqual({ enabled: 'false' });
  });

  it('reads cleared texts as empty, and cleared numbers as null or missing', () => {
    expect(form({ description: '', limit: '', forks: '' })).toEqual({
      description: '',
      limit: null,
    });
  });

  it('keeps several values for a list', () => {
    expect(form({ tags: ['a', 'b'] })).toEqual({ tags: ['a', 'b'] });
  });

  it('reads several selected objects after a hidden empty value', () => {
    expect(form({ teams: ['', '1', '2'], others: '' })).toEqual({ teams: [1, 2], others: null });
    expect(form({ teams: '', others: ['', '3'] })).toEqual({ teams: [], others: [3] });
  });

  it('parses JSON documents, and reports invalid ones', () => {
    expect(form({ tags: '[{"a": 1}]' })).toEqual({ tags: [{ a: 1 }] });
    expect(form({ tags: '' })).toEqual({});
    expect(() => form({ tags: '[' })).toThrow(Invalid);
  });

  it('puts members into their document with their declared types', () => {
    const answers = fieldsOf(Answers).map((field) => ({ ...field, name: `extra.${field.name}` }));
    const sent = (values: Record<string, unknown>) =>
      formBodyOf({ values, raw: null, secrets: [] }, answers);
    expect(sent({ 'extra.count': '3', 'extra.text': '3', 'extra.empty': '' })).toEqual({
      extra: { count: 3, text: '3' },
    });
    expect(sent({ extra: 'typed: 1', 'extra.count': '-2' })).toEqual({
      extra: { typed: 1, count: -2 },
    });
    expect(sent({ extra: '{', 'extra.count': '1' })).toEqual({ extra: '{' });
    expect(sent({ 'extra.some': ['', '8', 'nine'] })).toEqual({ extra: { some: ['8', 'nine'] } });
  });

  it('does not change a document that is too long to parse', () => {
    const [count] = fieldsOf(Answers).map((field) => ({ ...field, name: `extra.${field.name}` }));
    const extra = `long: &a "${'x'.repeat(70_000)}"\nagain: *a`;
    const values = { extra, 'extra.count': '1' };
    expect(formBodyOf({ values, raw: null, secrets: [] }, count ? [count] : [])).toEqual({ extra });
  });

  it('parses the JSON of a raw form', () => {
    expect(raw('{"name": 1}')).toEqual({ name: 1 });
    expect(raw(' ')).toEqual({});
  });

  it.each(['{', '[]', 'null', '"x"', `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`])(
    'refuses a raw form that is not a JSON object: %.12s',
    (text) => {
      expect(() => raw(text)).toThrow(BadRequest);
    },
  );
});

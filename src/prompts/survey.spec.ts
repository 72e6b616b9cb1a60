import { parseExact } from '../common/exact-json.js';
import { readSurvey, SurveyError } from './survey-spec.js';
import {
  answerErrors,
  requiredVariables,
  valueErrors,
  type Survey,
  type SurveyQuestion,
} from './survey.js';

const TYPES = 'text, textarea, password, multiplechoice, multiselect, integer, float';
const question = (fields: object): object => ({
  question_name: 'Q',
  variable: 'x',
  type: 'text',
  ...fields,
});
const survey = (...spec: unknown[]): Record<string, unknown> => ({
  name: 'S',
  description: '',
  spec,
});

describe('readSurvey', () => {
  it.each<[string, Record<string, unknown>]>([
    ["Field 'name' is missing from survey spec.", {}],
    ["Field 'description' is missing from survey spec.", { name: '' }],
    ["Field 'spec' is missing from survey spec.", { name: '', description: '' }],
    [
      "Expected list for field 'spec', received str type.",
      { name: '', description: '', spec: 'x' },
    ],
    ["'spec' doesn't contain any items.", survey()],
    ['Survey question 0 is not a json object.', survey('x')],
    ["'type' missing from survey question 0", survey({})],
    ["'type' in survey question 0 expected to be string.", survey(question({ type: 1 }))],
    [
      `'x' in survey question 0 is not one of '${TYPES}' allowed question types.`,
      survey(question({ type: 'x' })),
    ],
    ["'question_name' missing from survey question 0", survey(question({ question_name: '' }))],
    ["'variable' 'x' duplicated in survey question 1.", survey(question({}), question({}))],
    [
      'Default value "x" in survey question 0 expected to be integer.',
      survey(question({ type: 'integer', default: 'x' })),
    ],
    [
      'The min limit in survey question 0 expected to be integer.',
      survey(question({ type: 'integer', min: 'low' })),
    ],
    [
      'The max limit in survey question 0 expected to be integer.',
      survey(question({ type: 'integer', max: 0.5 })),
    ],
    [
      'The max limit in survey question 0 expected to be number.',
      survey(question({ type: 'float', max: '0.5' })),
    ],
    [
      'Survey question 0 of type multiplechoice must specify choices.',
      survey(question({ type: 'multiplechoice' })),
    ],
    [
      'Multiple Choice (Single Select) can only have one default value.',
      survey(question({ type: 'multiplechoice', choices: 'a\nb', default: 'a\nb' })),
    ],
    [
      'Default choice must be answered from the choices listed.',
      survey(question({ type: 'multiselect', choices: ['a'], default: 'b' })),
    ],
    [
      '$encrypted$ is a reserved keyword for password question defaults, survey question 0 is type text.',
      survey(question({ default: '$encrypted$' })),
    ],
  ])('reports: %s', (text, body) => {
    expect(() => readSurvey(body, null)).toThrow(new SurveyError(text));
  });

  it('counts questions from one in forms', () => {
    const inFormOf = (body: Record<string, unknown>): unknown => {
      try {
        return readSurvey(body, null);
      } catch (error) {
        return error instanceof SurveyError ? error.inForm : error;
      }
    };
    expect(inFormOf(survey(question({}), question({})))).toBe(
      "'variable' 'x' duplicated in survey question 2.",
    );
    expect(inFormOf(survey())).toBeNull();
  });

  it('keeps a password default that is sent back masked', () => {
    const body = survey(question({ type: 'password', default: '$encrypted$' }));
    const previous = survey(question({ type: 'password', default: 'old' })) as unknown as Survey;
    expect(readSurvey(body, previous).spec).toMatchObject([{ default: 'old' }]);
    expect(() => readSurvey(body, null)).toThrow(SurveyError);
  });

  it('accepts fractions as limits of a float', () => {
    const body = parseExact(
      JSON.stringify(survey(question({ type: 'float', min: 0.5 }))).replace('0.5', '0.50'),
    );
    const [asked] = readSurvey(body as Record<string, unknown>, null).spec as [SurveyQuestion];
    expect(asked.min).toBe(0.5);
    expect(valueErrors(asked, 0.4)).toEqual(["'x' value 0.4 is too small (must be at least 0.5)."]);
    expect(valueErrors(asked, 0.5)).toEqual([]);
  });

  it('never shows a password in an error', () => {
    const body = survey(question({ type: 'password', default: 123456 }));
    expect(() => readSurvey(body, null)).toThrow('Default value $encrypted$');
  });
});

describe('valueErrors', () => {
  it.each<[string, Partial<SurveyQuestion>, unknown]>([
    ["Value 5 for 'x' expected to be a string.", { type: 'text' }, 5],
    ["'x' value ab is too small (length is 2 must be at least 3).", { type: 'text', min: 3 }, 'ab'],
    ["'x' value abcd is too large (must be no more than 3).", { type: 'textarea', max: 3 }, 'abcd'],
    ["Value a for 'x' expected to be an integer.", { type: 'integer' }, 'a'],
    ["Value a for 'x' expected to be a numeric type.", { type: 'float' }, 'a'],
    ["'x' value 1 is too small (must be at least 2).", { type: 'integer', min: 2 }, 1],
    ["'x' value is expected to be a list.", { type: 'multiselect', choices: ['b'] }, 'b'],
    [
      "Value a for 'x' expected to be one of ['b', 'c'].",
      { type: 'multiplechoice', choices: 'b\nc' },
      'a',
    ],
    ["Value $encrypted$ for 'x' expected to be a string.", { type: 'password' }, 5],
    ["'x' value missing", { type: 'text', required: true }, ''],
    ["'x' value missing", { type: 'multiselect', choices: ['b'], required: true }, []],
  ])('reports: %s', (text, fields, value) => {
    expect(valueErrors(question(fields) as SurveyQuestion, value)).toEqual([text]);
  });

  it('accept an empty answer to an optional question', () => {
    expect(valueErrors(question({ min: 3 }) as SurveyQuestion, '')).toEqual([]);
  });

  it('accept a missing answer if the question has a default', () => {
    const spec = [question({ required: true, default: 'd' })] as SurveyQuestion[];
    expect(answerErrors({ name: '', description: '', spec }, {})).toEqual([]);
  });

  it('require an answer if the default is no valid answer', () => {
    const spec = [question({ required: true, default: 'd', min: 2 })] as SurveyQuestion[];
    const asked = { name: '', description: '', spec };
    expect(answerErrors(asked, {})).toEqual(["'x' value missing"]);
    expect(requiredVariables(asked)).toEqual(['x']);
  });
});

import { mergeVariables, type VariableSources } from './launch-variables.js';
import type { QuestionType, Survey } from './survey.js';

const SURVEY: Survey = {
  name: 's',
  description: '',
  spec: [
    { question_name: 'Who', variable: 'who', type: 'text', default: 'world' },
    { question_name: 'Pin', variable: 'pin', type: 'password', default: 'stored' },
    { question_name: 'Count', variable: 'count', type: 'integer', required: true },
  ],
};

const merge = (sources: Partial<VariableSources>) =>
  mergeVariables({
    template: {},
    survey: null,
    acceptsAny: false,
    allowsConnectionVars: false,
    sent: {},
    ...sources,
  });

it('launch variables override survey defaults, which override those of the template', () => {
  const { variables } = merge({
    template: { who: 'template', keep: 1 },
    survey: SURVEY,
    sent: { count: 3 },
  });
  expect(variables).toEqual({ who: 'world', keep: 1, pin: 'stored', count: 3 });
  const launched = merge({ template: { who: 't' }, survey: SURVEY, sent: { who: 'me', count: 3 } });
  expect(launched.variables.who).toBe('me');
});

it('a launch accepts only survey variables unless the template prompts for variables', () => {
  const sent = { count: 3, other: true };
  expect(merge({ survey: SURVEY, sent }).ignored).toEqual({ other: true });
  const asking = merge({ survey: SURVEY, sent, acceptsAny: true });
  expect(asking.ignored).toEqual({});
  expect(asking.accepted).toEqual(sent);
});

it('a launch keeps the default of a password that is sent back masked, and marks it as secret', () => {
  const { variables, secrets } = merge({ survey: SURVEY, sent: { pin: '$encrypted$', count: 1 } });
  expect(variables.pin).toBe('stored');
  expect(secrets).toEqual(['pin']);
});

it('a launch uses the default of a question that is answered with null', () => {
  const sent = { who: null, pin: null, count: 1 };
  const { variables, errors } = merge({ survey: SURVEY, sent });
  expect(variables).toEqual({ who: 'world', pin: 'stored', count: 1 });
  expect(errors).toEqual({});
});

it('a launch refuses the mask for other questions than passwords', () => {
  expect(merge({ acceptsAny: true, sent: { x: '$encrypted$' } }).errors).toEqual({
    extra_vars: ['"$encrypted$" is a reserved keyword, may not be used for x.'],
  });
});

it('a launch reports missing variables', () => {
  expect(merge({ survey: SURVEY }).errors).toEqual({
    variables_needed_to_start: ["'count' value missing"],
  });
});

it('a launch sets forced variables last, and does not validate again on a relaunch', () => {
  const merged = merge({ survey: SURVEY, isRelaunch: true, sent: { x: 1 }, forced: { x: 2 } });
  expect(merged.errors).toEqual({});
  expect(merged.variables.x).toBe(2);
});

it('a launch masks secrets in errors', () => {
  const named = (variable: string, type: QuestionType) => ({ question_name: '?', variable, type });
  const spec = [
    named('number', 'integer'),
    { ...named('text', 'text'), max: 3 },
    { ...named('bound', 'float'), max: 3 },
    { ...named('choice', 'multiplechoice'), choices: ['a'] },
    { ...named('list', 'multiselect'), choices: ['a'] },
  ];
  const secret = 'canary';
  const sent = { number: secret, text: secret, bound: 4711, choice: secret, list: [secret] };
  const survey = { name: '', description: '', spec };
  const { errors } = merge({ survey, sent, secretNames: Object.keys(sent) });
  expect(errors).toEqual({
    variables_needed_to_start: [
      "Value $encrypted$ for 'number' expected to be an integer.",
      "'text' value $encrypted$ is too large (must be no more than 3).",
      "'bound' value $encrypted$ is too large (must be no more than 3).",
      "Value $encrypted$ for 'choice' expected to be one of ['a'].",
      "Value $encrypted$ for 'list' expected to be one of ['a'].",
    ],
  });
});

it('a launch may repeat a connection variable of the template, but cannot guess a secret default', () => {
  const question = { question_name: '?', default: 'stored' };
  const spec = [
    { ...question, variable: 'ansible_user', type: 'text' as const },
    { ...question, variable: 'ansible_password', type: 'password' as const },
  ];
  const survey = { name: '', description: '', spec };
  const errorsOf = (sent: Record<string, unknown>) => Object.keys(merge({ survey, sent }).errors);
  expect(errorsOf({ ansible_user: 'stored' })).toEqual([]);
  expect(errorsOf({ ansible_password: 'stored' })).toEqual(['extra_vars']);
  const again = merge({ survey, sent: { ansible_password: 'stored' }, isRelaunch: true });
  expect(again.errors).toEqual({});
});

import { SecretBox } from '../common/crypto/secret-box.js';
import { openSaved, savedFaults } from './saved-prompts.js';
import type { SavedTarget } from './saved-prompt-errors.js';

/** A template that prompts for nothing and has a survey with one question. */
const TARGET: SavedTarget = {
  prompted: {
    promptsFor: () => false,
    values: {},
    variables: () => ({}),
    allowsConnectionVars: false,
    projectBranch: '',
  },
  refusal: { field: 'not prompted', variables: (names) => `not prompted: ${names.join()}` },
  survey: {
    name: '',
    description: '',
    spec: [{ question_name: 'Number', variable: 'number', type: 'integer', required: false }],
  },
};
const STORED = { id: 1, limit: 'web', extra_data: { number: 'a' } };

describe('savedFaults', () => {
  it('refuses a wrong answer in a change of a saved launch', () => {
    expect(savedFaults({ extra_data: { number: 'b' } }, STORED, TARGET)).toEqual({
      variables_needed_to_start: ["Value b for 'number' expected to be an integer."],
    });
  });

  it('refuses a connection variable that equals a secret default', () => {
    const question = { question_name: '?', type: 'password', default: 'stored' } as const;
    const spec = [{ ...question, variable: 'ansible_password' }];
    const target = { ...TARGET, survey: { name: '', description: '', spec } };
    const faults = savedFaults({ extra_data: { ansible_password: 'stored' } }, {}, target);
    expect(Object.keys(faults)).toEqual(['extra_data']);
  });

  it('refuses the mask of a secret answer that is not stored', () => {
    const spec = [{ question_name: '?', type: 'password', variable: 'token' } as const];
    const target = { ...TARGET, survey: { name: '', description: '', spec } };
    const masked = { extra_data: { token: '$encrypted$' } };
    const fault = '"$encrypted$" is a reserved keyword, may not be used for token.';
    expect(savedFaults(masked, {}, target)).toEqual({ extra_data: [fault] });
    expect(savedFaults(masked, { id: 1, survey_passwords: {} }, target)).toEqual({
      extra_data: [fault],
    });
    const stored = { id: 1, survey_passwords: { token: 'sealed' } };
    expect(savedFaults(masked, stored, target)).toEqual({});
  });

  it('ignores stored values that the request does not change', () => {
    expect(savedFaults({ enabled: false }, STORED, TARGET)).toEqual({});
  });
});

describe('openSaved', () => {
  it('reads an empty text as the value of the template', () => {
    const lists = { credentials: [], labels: [], instance_groups: [] };
    const texts = { limit: '', job_type: '', job_tags: '', skip_tags: '', scm_branch: '' };
    const row = { ...lists, ...texts, id: 1, verbosity: 0, extra_data: {}, survey_passwords: {} };
    expect(openSaved(new SecretBox('key'), 'schedules', row)).toEqual({ verbosity: 0 });
  });
});

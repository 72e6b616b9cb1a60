import { mergePrompts } from './launch-config.js';
import { ASK_SWITCHES, PROMPT_FIELDS, type PromptField, type Prompts } from './launch-options.js';

/** A value for every launch field, different from the value of the template. */
const SENT: Required<Prompts> = {
  scm_branch: 'develop',
  diff_mode: true,
  extra_vars: { a: 1 },
  limit: 'web',
  job_tags: 'deploy',
  skip_tags: 'slow',
  job_type: 'check',
  verbosity: 2,
  inventory: 8,
  credentials: [2, 3],
  execution_environment: 4,
  labels: [1],
  forks: 9,
  job_slice_count: 3,
  timeout: 60,
  instance_groups: [7],
};

const OWN: Prompts = {
  scm_branch: '',
  diff_mode: false,
  limit: '',
  job_tags: '',
  skip_tags: '',
  job_type: 'run',
  verbosity: 0,
  inventory: 1,
  credentials: [1],
  labels: [],
  forks: 0,
  job_slice_count: 1,
  timeout: 0,
  instance_groups: [],
};

const template = (...asked: PromptField[]) => ({
  promptsFor: (field: PromptField) => asked.includes(field),
  values: OWN,
  variables: () => ({}),
  allowsConnectionVars: false,
  projectBranch: 'main',
});

const SCALARS = PROMPT_FIELDS.filter((field) => field !== 'extra_vars');

describe('mergePrompts', () => {
  it.each(SCALARS)('accepts %s if its switch is on', (field) => {
    const { accepted, ignored } = mergePrompts(template(field), { [field]: SENT[field] });
    expect(accepted).toEqual({ [field]: SENT[field] });
    expect(ignored).toEqual({});
  });

  it.each(SCALARS)('reports %s as ignored if its switch is off', (field) => {
    const others = SCALARS.filter((scalar) => scalar !== field);
    const { accepted, ignored } = mergePrompts(template(...others), { [field]: SENT[field] });
    expect(accepted).toEqual({});
    expect(ignored).toEqual({ [field]: SENT[field] });
  });

  it('ignores fields that repeat the value of the template', () => {
    const same = { limit: '', inventory: 1, credentials: [1], verbosity: 0, labels: [] };
    expect(mergePrompts(template(), same)).toEqual({ accepted: {}, ignored: {} });
    expect(mergePrompts(template('limit', 'credentials'), same).accepted).toEqual({});
  });

  it('accepts the branch of the project as no override', () => {
    expect(mergePrompts(template(), { scm_branch: 'main' }).ignored).toEqual({});
  });

  it('compares lists as sets', () => {
    const ordered = { ...template('credentials'), values: { credentials: [1, 2] } };
    expect(mergePrompts(ordered, { credentials: [2, 1] }).accepted).toEqual({});
    expect(mergePrompts(ordered, { credentials: [2] }).accepted).toEqual({ credentials: [2] });
    expect(mergePrompts(ordered, { credentials: [] }).accepted).toEqual({ credentials: [] });
  });

  it('accepts instance groups of the template in another order', () => {
    const ordered = { ...template('instance_groups'), values: { instance_groups: [1, 2] } };
    expect(mergePrompts(ordered, { instance_groups: [1, 2] }).accepted).toEqual({});
    const reversed = { instance_groups: [2, 1] };
    expect(mergePrompts(ordered, reversed).accepted).toEqual(reversed);
  });

  it('has one switch for every launch field of the contract', () => {
    expect(PROMPT_FIELDS).toHaveLength(16);
    expect(new Set(Object.values(ASK_SWITCHES)).size).toBe(16);
  });
});

import { helpFor, labelFor, labelForField } from './labels.js';

describe('labels of fields', () => {
  it.each([
    ['job_tags', 'Job tags'],
    ['scm_type', 'Source control'],
    ['scm_branch', 'Branch'],
    ['ask_limit_on_launch', 'Prompt for limit'],
    ['ask_scm_branch_on_launch', 'Prompt for branch'],
    ['webhook_guid', 'Webhook GUID'],
    ['source_vars', 'Source variables'],
    ['enabled_var', 'Enabled variable'],
    ['constructor', 'Constructor'],
  ])('name %s %s', (name, words) => {
    expect(labelFor(name)).toBe(words);
  });

  it('omit help texts that only repeat the label of the field', () => {
    expect(helpFor({ label: 'Name', help: 'Name of this object.' })).toBe('');
    expect(helpFor({ label: 'Description', help: 'Optional description.' })).toBe('');
    expect(helpFor({ label: 'Limit', help: 'Host pattern.' })).toBe('Host pattern.');
  });

  it('come from the declaration if it has a label', () => {
    expect(labelForField({ name: 'email', label: 'Email address' })).toBe('Email address');
    expect(labelForField({ name: 'scm_refspec', label: 'Scm refspec' })).toBe('Additional refs');
    expect(labelForField({ name: 'job_tags', label: 'Job tags' })).toBe('Job tags');
  });
});

import { LaunchForm } from './launch.form.js';

describe('the launch form', () => {
  const filled = { 'extra_vars.size': 'x', 'extra_vars.region': 'y', limit: '' };
  const place = (...texts: string[]): object =>
    new LaunchForm().errorsIn({ variables_needed_to_start: texts, limit: ['No.'] }, filled);

  it('shows an error about an answer beside its question', () => {
    expect(
      place(
        "'size' value missing",
        "Value for 'size' expected for 'region' expected to be one of ['a'].",
      ),
    ).toEqual({
      limit: ['No.'],
      'extra_vars.size': ["'size' value missing"],
      'extra_vars.region': ["Value for 'size' expected for 'region' expected to be one of ['a']."],
    });
  });

  it('shows errors that belong to no question above the form', () => {
    expect(place("'other' value missing", 'Something else.')).toEqual({
      limit: ['No.'],
      variables_needed_to_start: ["'other' value missing", 'Something else.'],
    });
  });
});

import { Bool, Char, Choices, fieldsOf, Float, Json, Text } from '../common/fields/field.js';
import type { FormRows } from '../common/fields/form-rows.js';

/** Form fields of a survey question (docs/contract/launching.md#surveys). */
class QuestionFields {
  @Char({ label: 'Question', help: 'Text of the question at launch.' })
  question_name!: string;

  @Char({ help: 'Name of the variable that takes the answer.' })
  variable!: string;

  @Choices(
    [
      ['text', 'A line of text'],
      ['textarea', 'Several lines of text'],
      ['password', 'A password'],
      ['multiplechoice', 'One of several choices'],
      ['multiselect', 'Some of several choices'],
      ['integer', 'A whole number'],
      ['float', 'A number'],
    ],
    { default: 'text' },
  )
  type!: string;

  @Bool({ label: 'An answer is required' })
  required!: boolean;

  @Text({ help: 'Default; several choices are separated by line breaks.' })
  default!: string;

  @Text({ help: 'Choices, one per line.' })
  choices!: string;

  @Float({ nullable: true, help: 'Minimum number, or minimum length of a text.' })
  min!: number | null;

  @Float({ nullable: true, help: 'Maximum number, or maximum length of a text.' })
  max!: number | null;

  @Char({ label: 'Description' })
  question_description!: string;
}

const NUMERIC: ReadonlySet<unknown> = new Set(['integer', 'float']);

const QUESTION_ROWS: FormRows = {
  label: 'Question',
  fields: fieldsOf(QuestionFields),
  secrets: ['default'],
  // Forms send texts: defaults of numeric questions are converted to numbers.
  read: ({ default: defaultValue, ...question }) => ({
    ...question,
    ...(defaultValue === undefined
      ? {}
      : { default: NUMERIC.has(question.type) ? asNumber(defaultValue) : defaultValue }),
  }),
};

const asNumber = (value: unknown): unknown =>
  Number.isFinite(Number(value)) ? Number(value) : value;

/** Body of `survey_spec/` (docs/contract/launching.md#surveys). */
class SurveyBody {
  @Char({ required: true, blank: true, column: null, filter: false, help: 'Name of the survey.' })
  name!: string;

  @Text({ required: true, blank: true, column: null, filter: false, help: 'Optional description.' })
  description!: string;

  @Json({
    required: true,
    default: [],
    column: null,
    filter: false,
    help: 'Questions, in order.',
    rows: QUESTION_ROWS,
  })
  spec!: object[];
}

export const SURVEY_FIELDS = fieldsOf(SurveyBody);

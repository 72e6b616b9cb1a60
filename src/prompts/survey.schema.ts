import { Char, fieldsOf, Json, Text } from '../common/fields/field.js';

/** Body of `survey_spec/` (docs/contract/launching.md#surveys). */
class SurveySchema {
  @Char({ required: true, blank: true, column: null, filter: false })
  name!: string;

  @Text({ required: true, blank: true, column: null, filter: false })
  description!: string;

  @Json({ required: true, default: [], column: null, filter: false, help: 'Questions, in order.' })
  spec!: object[];
}

export const SURVEY_FIELDS = fieldsOf(SurveySchema);

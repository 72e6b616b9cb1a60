import { isSealed, rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { ENCRYPTED, hasDefault, type Survey, type SurveyQuestion } from './survey.js';

const contextOf = (templateId: number, { variable }: SurveyQuestion): string =>
  rowContext('unified_job_templates', templateId, `survey_spec.${variable}`);

/** A survey as it is stored: defaults of passwords sealed for the template's row. */
export const sealSurvey = (box: SecretBox, templateId: number, survey: Survey): Survey =>
  mapSecrets(survey, (text, question) => box.seal(text, contextOf(templateId, question)));

/** A stored survey with its secrets in clear; null when the template has none. */
export const openSurvey = (box: SecretBox, templateId: number, stored: unknown): Survey | null =>
  isSurvey(stored)
    ? mapSecrets(stored, (text, question) =>
        isSealed(text) ? box.open(text, contextOf(templateId, question)) : text,
      )
    : null;

/** A stored survey as the API shows it. */
export const maskSurvey = (stored: unknown): Survey | Record<string, never> =>
  isSurvey(stored) ? mapSecrets(stored, () => ENCRYPTED) : {};

function mapSecrets(
  survey: Survey,
  change: (text: string, question: SurveyQuestion) => string,
): Survey {
  return {
    ...survey,
    spec: survey.spec.map((question) =>
      question.type === 'password' && hasDefault(question)
        ? { ...question, default: change(String(question.default), question) }
        : question,
    ),
  };
}

/** Whether a column holds a survey: it is null, or an empty object after the survey was removed. */
export function isSurvey(stored: unknown): stored is Survey {
  return typeof stored === 'object' && stored !== null && Array.isArray((stored as Survey).spec);
}

import { isSealed, rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { isRecord } from '../common/records.js';
import { hasDefault, type Survey } from './survey.js';

/** Returns the context of sealed defaults. The context contains the key of the secret in the JSON column. */
const contextOf = (templateId: number): string =>
  rowContext('unified_job_templates', templateId, 'default');

/** Returns a survey in its stored form, with password defaults sealed for the template's row. */
export const sealSurvey = (box: SecretBox, templateId: number, survey: Survey): Survey =>
  mapSecrets(survey, (text) => box.seal(text, contextOf(templateId)));

/** Returns a stored survey with decrypted secrets; null if the template has no survey. */
export const openSurvey = (box: SecretBox, templateId: number, stored: unknown): Survey | null =>
  isSurvey(stored)
    ? mapSecrets(stored, (text) => (isSealed(text) ? box.open(text, contextOf(templateId)) : text))
    : null;

/** Returns a stored survey with masked secrets, for the API. */
export const maskSurvey = (stored: unknown): Survey | Record<string, never> =>
  isSurvey(stored) ? mapSecrets(stored, () => ENCRYPTED) : {};

/** Returns a stored survey with empty defaults of its secret questions; null if there is no survey. */
export const withoutSecrets = (stored: unknown): Survey | null =>
  isSurvey(stored) ? mapSecrets(stored, () => '') : null;

function mapSecrets(survey: Survey, change: (text: string) => string): Survey {
  return {
    ...survey,
    spec: survey.spec.map((question) =>
      question.type === 'password' && hasDefault(question)
        ? { ...question, default: change(String(question.default)) }
        : question,
    ),
  };
}

/** Returns true if the column contains a survey. Without a survey the column is null or an empty object. */
const isSurvey = (stored: unknown): stored is Survey =>
  isRecord(stored) && Array.isArray(stored.spec);

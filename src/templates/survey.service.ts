import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { resultOr } from '../common/errors/errors.js';
import { exactJson } from '../common/exact-json.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { assertRedirect } from '../common/rest/destinations.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { maskSurvey, openSurvey, sealSurvey, withoutSecrets } from '../prompts/survey-secrets.js';
import { readSurvey } from '../prompts/survey-spec.js';
import type { Survey } from '../prompts/survey.js';
import { TemplatesRepository } from './templates.repository.js';

/** Manages surveys of templates of any kind. */
@Injectable()
export class SurveyService {
  constructor(
    private readonly database: Database,
    private readonly templates: TemplatesRepository,
    private readonly resources: ResourceService,
    private readonly box: SecretBox,
    private readonly activity: ActivityRecorder,
  ) {}

  /** @throws SurveyError for an invalid survey */
  replace(
    definition: ResourceDefinition,
    target: Row,
    body: Record<string, unknown>,
    actor: Actor,
  ): Promise<void> {
    return this.change(definition, target, actor, (template) => {
      return readSurvey(body, this.openIfPossible(template));
    });
  }

  remove(definition: ResourceDefinition, target: Row, actor: Actor): Promise<void> {
    return this.change(definition, target, actor, () => null);
  }

  /** Copies the survey of a template to its copy, with or without the defaults of passwords. */
  async copy(original: Row, copyId: number, isWithSecrets = true): Promise<void> {
    const survey = isWithSecrets
      ? openSurvey(this.box, original.id, original.survey_spec)
      : withoutSecrets(original.survey_spec);
    if (survey) await this.write(copyId, survey);
  }

  /** Returns the survey of a template; null if its secrets cannot be decrypted and must be entered again. */
  private openIfPossible({ id, survey_spec: stored }: Row): Survey | null {
    return resultOr(() => openSurvey(this.box, id, stored), null, UnsealError);
  }

  private change(
    definition: ResourceDefinition,
    target: Row,
    actor: Actor,
    next: (template: Row) => Survey | null,
  ): Promise<void> {
    return this.database.transaction(async () => {
      const template = await this.resources.lock(definition, target, actor);
      const survey = next(template);
      if (survey) assertRedirect(definition, template, { survey_spec: survey });
      await this.write(template.id, survey);
      this.activity.recordUpdate(definition, template, {
        survey_spec: [maskSurvey(template.survey_spec), maskSurvey(survey)],
      });
    });
  }

  private async write(templateId: number, survey: Survey | null): Promise<void> {
    const stored = survey ? exactJson(sealSurvey(this.box, templateId, survey)) : null;
    await this.templates.storeSurvey(templateId, stored);
  }
}

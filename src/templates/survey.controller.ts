import { Body, Controller, Delete, Get, Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { BadFields, BadRequest } from '../common/errors/errors.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import * as json from '../common/fields/json-schema.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { resourceOf } from '../common/rest/resource.controller.js';
import { QUESTION_TYPES } from '../prompts/survey.js';
import { SURVEY_FIELDS } from '../prompts/survey.dto.js';
import { SurveyError } from '../prompts/survey-spec.js';
import { maskSurvey } from '../prompts/survey-secrets.js';
import { SurveyService } from './survey.service.js';

const SURVEY = {
  ...json.partial({
    name: json.described(json.STRING, 'Name of the survey.'),
    description: json.described(json.STRING, 'Optional description.'),
    spec: json.described(
      json.list({
        ...json.object(
          {
            question_name: json.STRING,
            question_description: json.STRING,
            variable: json.STRING,
            type: { ...json.STRING, enum: QUESTION_TYPES },
            required: json.BOOLEAN,
            default: json.anyValue('An answer of the type of the question; secrets are masked.'),
            min: json.orNull(json.NUMBER),
            max: json.orNull(json.NUMBER),
            choices: json.anyOfSchemas(json.STRING, json.list(json.STRING)),
          },
          ['question_description', 'required', 'default', 'min', 'max', 'choices'],
        ),
        additionalProperties: true,
      }),
      'Questions, in their order.',
    ),
  }),
  description: 'The survey, or an empty object.',
};

const routeOf = (
  templates: ResourceDefinition,
  verb: string,
): Pick<RouteInfo, 'parent' | 'operationId'> => ({
  parent: templates,
  operationId: `${templates.path}_survey_spec_${verb}`,
});
const CHANGE = { kind: 'action', needs: 'change', status: 200 } as const;

/** Survey of a template: the questions at launch (docs/contract/launching.md#surveys). */
@Controller()
export abstract class SurveyController {
  private readonly templates = resourceOf(this);

  constructor(private readonly surveys: SurveyService) {}

  @Route((templates) => ({
    ...routeOf(templates, 'read'),
    link: 'survey_spec',
    summary: 'Questions that users answer at launch; an empty object without a survey.',
    response: SURVEY,
  }))
  @Get()
  read(@Target() template: Row): unknown {
    return maskSurvey(template.survey_spec);
  }

  @Route((templates) => ({
    ...routeOf(templates, 'replace'),
    ...CHANGE,
    summary: 'Replace the questions of the survey.',
    body: SURVEY_FIELDS,
  }))
  @Post()
  async replace(
    @Target() template: Row,
    @Body() body: Record<string, unknown>,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    try {
      await this.surveys.replace(this.templates, template, body, actor);
    } catch (error) {
      throw error instanceof SurveyError ? refusalOf(error) : error;
    }
  }

  @Route((templates) => ({
    ...routeOf(templates, 'delete'),
    ...CHANGE,
    summary: 'Remove the survey.',
  }))
  @Delete()
  remove(@Target() template: Row, @CurrentActor() actor: Actor): Promise<void> {
    return this.surveys.remove(this.templates, template, actor);
  }
}

const refusalOf = ({ message, inForm }: SurveyError): BadRequest =>
  inForm === null ? new BadRequest(message) : new BadFields(message, { spec: [inForm] });

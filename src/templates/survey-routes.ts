import { Body, RequestMethod } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { BadFields, BadRequest } from '../common/errors/errors.js';
import type { RouteInfo } from '../common/rest/route.js';
import {
  anyOf,
  anyValue,
  BOOLEAN,
  list,
  NUMBER,
  object,
  orNull,
  partial,
  STRING,
} from '../common/fields/json-schema.js';
import { addRoute } from '../common/rest/add-route.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import type { CommonServices } from '../common/rest/common-services.service.js';
import { controllerOf, type GenericController } from '../common/rest/resource.controller.js';
import { QUESTION_TYPES } from '../prompts/survey.js';
import { SURVEY_FIELDS } from '../prompts/survey.schema.js';
import { SurveyError } from '../prompts/survey-spec.js';
import { maskSurvey } from '../prompts/survey-secrets.js';
import { SurveyService } from './survey.service.js';

const SURVEY = {
  ...partial({
    name: STRING,
    description: STRING,
    spec: list({
      ...object(
        {
          question_name: STRING,
          question_description: STRING,
          variable: STRING,
          type: { ...STRING, enum: QUESTION_TYPES },
          required: BOOLEAN,
          default: anyValue('An answer of the type of the question; secrets are masked.'),
          min: orNull(NUMBER),
          max: orNull(NUMBER),
          choices: anyOf(STRING, list(STRING)),
        },
        ['question_description', 'required', 'default', 'min', 'max', 'choices'],
      ),
      additionalProperties: true,
    }),
  }),
  description: 'The survey, or an empty object.',
};

/**
 * Declares `/<templates>/<id>/survey_spec/`: the questions that a launch asks
 * (docs/contract/launching.md#surveys).
 */
export function WithSurvey(): ClassDecorator {
  return (target) => {
    const controller = controllerOf(target);
    const { definition } = controller;
    const route = (verb: string): Pick<RouteInfo, 'access' | 'parent' | 'operationId'> => ({
      access: 'authenticated',
      parent: definition,
      operationId: `${definition.path}_survey_spec_${verb}`,
    });
    const path = ':id/survey_spec';
    addRoute(controller, 'survey_spec_read', {
      method: RequestMethod.GET,
      path,
      info: {
        ...route('read'),
        kind: 'document',
        link: 'survey_spec',
        summary: 'Questions asked at launch; an empty object when there are none.',
        response: SURVEY,
      },
      parameters: [Target()],
      handler: (template: Row) => maskSurvey(template.survey_spec),
    });
    addRoute(controller, 'survey_spec_replace', {
      method: RequestMethod.POST,
      path,
      info: {
        ...route('replace'),
        ...CHANGE,
        summary: 'Replace the questions asked at launch.',
        body: SURVEY_FIELDS,
      },
      parameters: [Target(), Body(), CurrentActor()],
      handler(this: GenericController, row: Row, body: Record<string, unknown>, actor: Actor) {
        return replaceSurvey(this.services, definition, row, body, actor);
      },
    });
    addRoute(controller, 'survey_spec_delete', {
      method: RequestMethod.DELETE,
      path,
      info: { ...route('delete'), ...CHANGE, summary: 'Remove the questions asked at launch.' },
      parameters: [Target(), CurrentActor()],
      async handler(this: GenericController, row: Row, actor: Actor) {
        await this.services.find(SurveyService).remove(definition, row, actor);
      },
    });
  };
}

const CHANGE = { kind: 'action', needs: 'change', status: 200 } as const;

async function replaceSurvey(
  services: CommonServices,
  definition: ResourceDefinition,
  template: Row,
  body: Record<string, unknown>,
  actor: Actor,
): Promise<void> {
  try {
    await services.find(SurveyService).replace(definition, template, body, actor);
  } catch (error) {
    throw error instanceof SurveyError ? refusalOf(error) : error;
  }
}

const refusalOf = ({ message, inForm }: SurveyError): BadRequest =>
  inForm === null ? new BadRequest(message) : new BadFields(message, { spec: [inForm] });

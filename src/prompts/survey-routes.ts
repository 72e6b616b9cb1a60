import { RequestMethod } from '@nestjs/common';
import { BadRequest } from '../common/errors/errors.js';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
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
import type { ResourceDefinition } from '../common/resource/define-resource.js';
import type { Machinery } from '../common/rest/machinery.js';
import type {
  GenericController,
  GenericControllerClass,
} from '../common/rest/resource.controller.js';
import { QUESTION_TYPES } from './survey.js';
import { SURVEY_FIELDS } from './survey.schema.js';
import { SurveyError } from './survey-spec.js';
import { maskSurvey } from './survey-secrets.js';
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

interface SurveyRoute {
  method: RequestMethod;
  verb: string;
  info: Pick<RouteInfo, 'kind' | 'summary'> & Partial<RouteInfo>;
  handle(
    machinery: Machinery,
    templates: ResourceDefinition,
    request: ApiRequest,
  ): Promise<unknown>;
}

const CHANGE = { kind: 'action', needs: 'change', status: 200 } as const;

const ROUTES: readonly SurveyRoute[] = [
  {
    method: RequestMethod.GET,
    verb: 'read',
    info: {
      kind: 'document',
      summary: 'Questions asked at launch; an empty object when there are none.',
      response: SURVEY,
    },
    async handle({ resources }, templates, { params, actor }) {
      const template = await resources.load(templates, params.id, actor);
      return maskSurvey(template.survey_spec);
    },
  },
  {
    method: RequestMethod.POST,
    verb: 'replace',
    info: { ...CHANGE, summary: 'Replace the questions asked at launch.', body: SURVEY_FIELDS },
    async handle(machinery, templates, { params, body, actor }) {
      try {
        await machinery.find(SurveyService).replace(templates, params.id, body, actor);
        return new Reply(200);
      } catch (error) {
        throw error instanceof SurveyError ? new BadRequest(error.message) : error;
      }
    },
  },
  {
    method: RequestMethod.DELETE,
    verb: 'delete',
    info: { ...CHANGE, summary: 'Remove the questions asked at launch.' },
    async handle(machinery, templates, { params, actor }) {
      await machinery.find(SurveyService).remove(templates, params.id, actor);
      return new Reply(200);
    },
  },
];

/**
 * Declares `/<templates>/<id>/survey_spec/`: the questions that a launch asks
 * (docs/contract/launching.md#surveys).
 */
export function WithSurvey(): ClassDecorator {
  return (target) => {
    const controller = target as unknown as GenericControllerClass;
    const { definition } = controller;
    definition.links.set('survey_spec', 'survey_spec');
    for (const { method, verb, info, handle } of ROUTES) {
      addRoute(controller, `survey_spec_${verb}`, {
        method,
        path: ':id/survey_spec',
        info: {
          access: 'authenticated',
          parent: definition,
          operationId: `${definition.path}_survey_spec_${verb}`,
          ...info,
        },
        handler: function (this: GenericController, request) {
          return handle(this.machinery, definition, request);
        } as (request: ApiRequest) => Promise<unknown>,
      });
    }
  };
}

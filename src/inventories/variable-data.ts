import { mergeExact } from '../common/exact-json.js';
import { Body, RequestMethod } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { freeObject } from '../common/fields/json-schema.js';
import { readVariables } from '../common/fields/variables.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { addRoute } from '../common/rest/add-route.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import {
  controllerOf,
  type GenericController,
  type GenericControllerClass,
} from '../common/rest/resource.controller.js';
import type { RouteInfo } from '../common/rest/route.js';

type Variables = Record<string, unknown>;

/** Computes the new variables from the present and the sent ones. */
type Change = (present: Variables, sent: Variables) => Variables;

/**
 * Declares `/<resource>/<id>/variable_data/`: the variables as an object. PUT replaces them, PATCH
 * sets the given keys; both store JSON text.
 */
export function VariableData(): ClassDecorator {
  return (target) => {
    const controller = controllerOf(target);
    const { definition } = controller;
    addRoute(controller, 'variable_data_retrieve', {
      method: RequestMethod.GET,
      path: ':id/variable_data',
      info: { ...infoOf(definition, 'retrieve', 'Show'), link: 'variable_data' },
      parameters: [Target()],
      handler: (row: Row) => variablesOf(row),
    });
    const replaced: Change = (_present, sent) => sent;
    declareChange(
      controller,
      RequestMethod.PUT,
      infoOf(definition, 'replace', 'Replace'),
      replaced,
    );
    const merged: Change = (present, sent) => mergeExact(present, sent);
    declareChange(controller, RequestMethod.PATCH, infoOf(definition, 'modify', 'Change'), merged);
  };
}

const variablesOf = (row: Row): Promise<Variables> => readVariables(String(row.variables));

function infoOf(definition: ResourceDefinition, verb: string, word: string): RouteInfo {
  return {
    kind: 'document',
    access: 'authenticated',
    operationId: `${definition.path}_variable_data_${verb}`,
    summary: `${word} the variables of one ${definition.label.toLowerCase()}.`,
    parent: definition,
    ...(verb === 'retrieve' ? {} : { needs: 'change', body: [] }),
    response: freeObject('Variables by name.'),
  };
}

function declareChange(
  controller: GenericControllerClass,
  method: RequestMethod,
  info: RouteInfo,
  change: Change,
): void {
  const { definition } = controller;
  addRoute(controller, method === RequestMethod.PUT ? 'replaceVariables' : 'changeVariables', {
    method,
    path: ':id/variable_data',
    info,
    parameters: [Target(), Body(), CurrentActor()],
    handler(this: GenericController, target: Row, sent: Variables, actor: Actor) {
      const { database, resources } = this.services;
      return database.transaction(async () => {
        const row = await resources.lock(definition, target, actor);
        const variables = change(await variablesOf(row), sent);
        const body = { variables };
        return variablesOf(await resources.update(definition, row, body, actor, { partial: true }));
      });
    },
  });
}
